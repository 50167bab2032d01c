// SPDX-License-Identifier: Apache-2.0
//! The official Rust SDK with an echo tool: peer PORT legacy|modern
use axum::serve::ListenerExt;
use rmcp::{
    ServerHandler,
    handler::server::{router::tool::ToolRouter, wrapper::Parameters},
    model::{ServerCapabilities, ServerConfig},
    schemars, tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct EchoArguments {
    text: String,
}

#[derive(Clone)]
struct Peer {
    tool_router: ToolRouter<Self>,
}

#[tool_router]
impl Peer {
    #[tool(description = "Repeats the text.")]
    fn echo(&self, Parameters(EchoArguments { text }): Parameters<EchoArguments>) -> String {
        text
    }
}

#[tool_handler(router = self.tool_router)]
impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }
}

/// One thread, because the benchmark gives the server one core.
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut config = StreamableHttpServerConfig::default();
    config.legacy_session_mode = arguments[2] != "modern";
    config.json_response = true;
    let peer = Peer { tool_router: Peer::tool_router() };
    let service: StreamableHttpService<Peer, LocalSessionManager> =
        StreamableHttpService::new(move || Ok(peer.clone()), Default::default(), config);
    let listener = tokio::net::TcpListener::bind(format!("127.0.0.1:{}", arguments[1])).await.unwrap();
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap()); // otherwise a call takes 40 ms
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await.unwrap();
}
