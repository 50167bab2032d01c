# SPDX-License-Identifier: Apache-2.0
"""Runs the official Python client against opsbrain. ../interop.mjs describes the lines that this program prints and reads."""

import sys
from contextlib import AsyncExitStack

import anyio
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.types import ResourceUpdatedNotification

PATIENCE_S = 60
SWEEP = {
    "deployment": "sim",
    "concurrency": [1, 2],
    "input_tokens": [16],
    "output_tokens": [8],
    "window_s": 60,
    "warmup_limit_s": 1,
}


async def ask(what):
    print(f"ask {what}", flush=True)
    reply = (await anyio.to_thread.run_sync(sys.stdin.readline)).strip()
    check(reply == "done", reply)


def check(condition, problem):
    if not condition:
        raise AssertionError(problem)


async def again(work):
    """Repeats a call until it succeeds: the first attempt can fail because its connection is just being closed."""
    while True:
        try:
            return await work()
        except MCPError:
            await anyio.sleep(0.1)


class Conversation:
    """One client, and the URIs of the resources that the server has reported to it as changed."""

    def __init__(self, url, era, model):
        self.era = era
        self.model = model
        self.client = Client(url, mode=era, message_handler=self.heard, cache=None)
        self.updates, self.received = anyio.create_memory_object_stream(1000)
        self.sweep = self.job = None

    async def heard(self, message):
        if isinstance(message, ResourceUpdatedNotification):
            await self.updates.send(message.params.uri)

    async def call(self, name, arguments, **options):
        result = await self.client.call_tool(name, arguments, **options)
        check(not result.is_error, result.content)
        return result.structured_content

    async def check_version(self):
        expected = "2025-11-25" if self.era == "legacy" else self.era
        check(self.client.protocol_version == expected, self.client.protocol_version)

    async def list(self):
        tools = [tool.name for tool in (await self.client.list_tools()).tools]
        check("sweep_start" in tools, tools)
        resources = [resource.uri for resource in (await self.client.list_resources()).resources]
        check("opsbrain://guide" in resources, resources)
        prompts = [prompt.name for prompt in (await self.client.list_prompts()).prompts]
        check("benchmark_a_deployment" in prompts, prompts)
        guide = await self.client.read_resource("opsbrain://guide")
        check("sweep" in guide.contents[0].text, guide)

    async def call_with_progress(self):
        seen = []

        async def progress(done, _total, _message):
            seen.append(done)

        await self.call("deployment_register", {"name": "sim", "url": self.model})
        query = {"deployment": "sim", "prompt": "Say something long.", "max_tokens": 60}
        await self.call("model_query", query, progress_callback=progress)
        check(len(seen) >= 2 and seen == sorted(set(seen)), seen)

    async def cancel(self):
        started = await self.call("sweep_start", SWEEP)
        self.sweep, self.job = f"opsbrain://sweeps/{started['sweep']['id']}", started["job"]
        async with anyio.create_task_group() as group:
            group.start_soon(self.call, "job_show", {"job": self.job, "wait_s": 50})
            await ask("busy")
            group.cancel_scope.cancel()
        await ask("quiet")
        job = (await self.call("job_show", {"job": self.job}))["job"]
        check(job["state"] in ("queued", "running") and not job.get("cancel_requested"), job)

    async def subscribe(self):
        if self.era == "legacy":
            await self.client.subscribe_resource(self.sweep)
        await self.updated()

    async def updated(self):
        """Waits until the sweep is reported as changed.

        In the stateless era (2026-07-28), a subscription ends with its stream, so this method makes a new one.
        """
        if self.era == "legacy":
            while self.received.statistics().current_buffer_used:
                self.received.receive_nowait()
            check(await self.received.receive() == self.sweep, "a different resource was updated")
            return
        async with self.client.listen(resource_subscriptions=[self.sweep]) as news:
            check((await anext(news)).uri == self.sweep, "a different resource was updated")

    async def resume_after_a_cut(self):
        first = anyio.Event()

        async def progress(_done, _total, _message):
            first.set()

        async def wait():
            await self.call("job_show", {"job": self.job, "wait_s": 5}, progress_callback=progress)

        if self.era == "legacy":
            async with anyio.create_task_group() as group:
                group.start_soon(wait)
                await first.wait()
                await ask("cut")
        else:
            await ask("cut")
            await again(wait)
        await self.updated()

    async def resume_after_a_restart(self):
        await ask("restart")
        await self.list()
        await self.updated()
        await self.call("job_cancel", {"job": self.job})


async def step(name, work):
    """Runs a step and prints its result. After a failure, no further step is tried."""
    try:
        with anyio.fail_after(PATIENCE_S):
            await work()
    except BaseException as error:
        print(f"failed {name}: {error!r}".replace("\n", " "), flush=True)
        raise
    print(f"ok {name}", flush=True)


async def main(url, era, model):
    talk = Conversation(url, era, model)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(talk.client)
        await step("connect", talk.check_version)
        await step("list", talk.list)
        await step("call with progress", talk.call_with_progress)
        await step("cancel", talk.cancel)
        await step("subscribe", talk.subscribe)
        await step("resume after a cut", talk.resume_after_a_cut)
        await step("resume after a restart", talk.resume_after_a_restart)


anyio.run(main, *sys.argv[1:])
