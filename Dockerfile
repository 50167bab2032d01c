# SPDX-License-Identifier: Apache-2.0
# The first stage builds the release. The second contains only what the release needs, and runs it as an unprivileged user.
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends \
        gcc libc6-dev cmake ninja-build pkg-config libsqlite3-dev libjansson-dev \
        libcurl4-openssl-dev libmicrohttpd-dev libzstd-dev libssl-dev libcairo2-dev libpq-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN cmake --preset release && cmake --build --preset release

FROM debian:12-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
        ca-certificates libsqlite3-0 libjansson4 libcurl4 libmicrohttpd12 libzstd1 libssl3 libcairo2 zlib1g libpq5 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10001 --user-group --no-create-home --home-dir /nonexistent opsbrain \
    && install -d -o opsbrain -g opsbrain -m 0700 /data
COPY --from=build /source/build/release/bin/opsbrain /usr/local/bin/opsbrain
USER 10001:10001
# With PORT, the server listens on every address of the container. Cloud Run replaces PORT with its own value.
ENV OPSBRAIN_DATA=/data OPSBRAIN_AUTH=keys PORT=8080
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["opsbrain"]
CMD ["serve"]
