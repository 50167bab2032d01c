// SPDX-License-Identifier: Apache-2.0
//! Runs the official Rust client against opsbrain. ../interop.mjs describes the lines that this program prints and
//! reads.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, ClientRequest, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    ReadResourceRequestParams, Request, ResourceUpdatedNotificationParam, ServerNotification, ServerResult,
    SubscribeRequestParams, SubscriptionFilter,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, PeerRequestOptions, RequestHandle, RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::watch;

const PATIENCE: Duration = Duration::from_secs(60);

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

fn check(condition: bool, problem: impl std::fmt::Debug) -> Outcome {
    if condition { Ok(()) } else { Err(format!("{problem:?}").into()) }
}

/// The notifications that the client received: the progress for each progress token, and the URI of each changed
/// resource.
#[derive(Clone)]
struct Heard {
    progress: Arc<Mutex<HashMap<ProgressToken, Vec<f64>>>>,
    updates: Arc<watch::Sender<Vec<String>>>,
}

impl ClientHandler for Heard {
    async fn on_progress(&self, told: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let mut progress = self.progress.lock().unwrap();
        progress.entry(told.progress_token).or_default().push(told.progress);
    }

    async fn on_resource_updated(&self, told: ResourceUpdatedNotificationParam, _: NotificationContext<RoleClient>) {
        self.updates.send_modify(|uris| uris.push(told.uri));
    }
}

struct Conversation {
    client: RunningService<RoleClient, Heard>,
    heard: Heard,
    legacy: bool,
    model: String,
    sweep: String,
    job: String,
}

async fn ask(what: &str) -> Outcome {
    println!("ask {what}");
    let mut reply = String::new();
    BufReader::with_capacity(1, tokio::io::stdin()).read_line(&mut reply).await?;
    check(reply == "done\n", reply)
}

async fn connect(url: &str, era: &str, model: &str) -> Outcome<Conversation> {
    let legacy = era == "legacy";
    let heard = Heard { progress: Default::default(), updates: Arc::new(watch::Sender::new(Vec::new())) };
    let lifecycle = if legacy {
        ClientLifecycleMode::Initialize
    } else {
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
    };
    let config = StreamableHttpClientTransportConfig::with_uri(url).reinit_on_expired_session(false);
    let transport = StreamableHttpClientTransport::from_config(config);
    let client = heard.clone().serve_with_lifecycle(transport, lifecycle).await?;
    let spoken = client.peer_info().ok_or("the server has not introduced itself")?.protocol_version.clone();
    check(spoken.as_str() == if legacy { "2025-11-25" } else { era }, spoken)?;
    Ok(Conversation { client, heard, legacy, model: model.into(), sweep: String::new(), job: String::new() })
}

impl Conversation {
    async fn begin(&self, name: &'static str, arguments: Value) -> Outcome<RequestHandle<RoleClient>> {
        let call = CallToolRequestParams::new(name).with_arguments(arguments.as_object().unwrap().clone());
        let request = ClientRequest::CallToolRequest(Request::new(call));
        Ok(self.client.send_cancellable_request(request, PeerRequestOptions::no_options()).await?)
    }

    /// Waits for a call, which must succeed, and returns its structured content.
    async fn finish(&self, call: RequestHandle<RoleClient>) -> Outcome<Value> {
        let ServerResult::CallToolResult(result) = call.await_response().await? else {
            return Err("the answer is not a tool result".into());
        };
        check(result.is_error != Some(true), &result.content)?;
        Ok(result.structured_content.ok_or("no structured content")?)
    }

    async fn call(&self, name: &'static str, arguments: Value) -> Outcome<Value> {
        self.finish(self.begin(name, arguments).await?).await
    }

    fn seen(&self, token: &ProgressToken) -> Vec<f64> {
        self.heard.progress.lock().unwrap().get(token).cloned().unwrap_or_default()
    }

    async fn list(&self) -> Outcome {
        let tools = self.client.list_all_tools().await?;
        check(tools.iter().any(|tool| tool.name == "sweep_start"), tools)?;
        let resources = self.client.list_all_resources().await?;
        check(resources.iter().any(|resource| resource.uri == "opsbrain://guide"), resources)?;
        let prompts = self.client.list_all_prompts().await?;
        check(prompts.iter().any(|prompt| prompt.name == "benchmark_a_deployment"), prompts)?;
        let guide = self.client.read_resource(ReadResourceRequestParams::new("opsbrain://guide")).await?;
        check(format!("{guide:?}").contains("sweep"), guide)
    }

    async fn call_with_progress(&self) -> Outcome {
        self.call("deployment_register", json!({"name": "sim", "url": self.model})).await?;
        let query = json!({"deployment": "sim", "prompt": "Say something long.", "max_tokens": 60});
        let call = self.begin("model_query", query).await?;
        let token = call.progress_token.clone();
        self.finish(call).await?;
        let seen = self.seen(&token);
        check(seen.len() >= 2 && seen.windows(2).all(|pair| pair[0] < pair[1]), seen)
    }

    async fn cancel(&mut self) -> Outcome {
        let sweep = json!({
            "deployment": "sim", "concurrency": [1, 2], "input_tokens": [16], "output_tokens": [8],
            "window_s": 60, "warmup_limit_s": 1,
        });
        let started = self.call("sweep_start", sweep).await?;
        self.job = started["job"].as_str().ok_or("no job")?.into();
        self.sweep = format!("opsbrain://sweeps/{}", started["sweep"]["id"].as_str().ok_or("no sweep")?);

        let waiting = self.begin("job_show", json!({"job": self.job, "wait_s": 50})).await?;
        ask("busy").await?;
        waiting.cancel(None).await?;
        ask("quiet").await?;
        let shown = self.call("job_show", json!({"job": self.job})).await?;
        check(shown["job"]["cancel_requested"] != true, shown)
    }

    #[expect(deprecated, reason = "in the legacy era, this is how a client subscribes")]
    async fn subscribe(&self) -> Outcome {
        if self.legacy {
            self.client.subscribe(SubscribeRequestParams::new(self.sweep.clone())).await?;
        }
        self.updated().await
    }

    /// Waits until the sweep is reported as changed. In the stateless era (2026-07-28), a subscription ends with
    /// its stream, so this method makes a new one.
    async fn updated(&self) -> Outcome {
        if self.legacy {
            let mut updates = self.heard.updates.subscribe();
            updates.changed().await?;
            let last = updates.borrow().last().cloned();
            return check(last.as_ref() == Some(&self.sweep), last);
        }
        let wanted = SubscriptionFilter::builder().resource_subscription(self.sweep.clone()).build();
        let mut subscription = self.client.listen(wanted).await?;
        match subscription.next().await? {
            Some(ServerNotification::ResourceUpdatedNotification(told)) => check(told.params.uri == self.sweep, told),
            other => Err(format!("got {other:?}, expected a resource update").into()),
        }
    }

    async fn resume_after_a_cut(&self) -> Outcome {
        let arguments = json!({"job": self.job, "wait_s": 5});
        if self.legacy {
            let call = self.begin("job_show", arguments).await?;
            while self.seen(&call.progress_token).is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            ask("cut").await?;
            self.finish(call).await?;
        } else {
            ask("cut").await?;
            self.call("job_show", arguments).await?;
        }
        self.updated().await
    }

    async fn resume_after_a_restart(&self) -> Outcome {
        ask("restart").await?;
        self.list().await?;
        self.updated().await?;
        self.call("job_cancel", json!({"job": self.job})).await?;
        Ok(())
    }
}

/// Runs a step and prints its result. After a failure, no further step is tried.
async fn step<T>(name: &str, work: impl Future<Output = Outcome<T>>) -> T {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(Ok(value)) => {
            println!("ok {name}");
            return value;
        }
        Ok(Err(error)) => println!("failed {name}: {}", error.to_string().replace('\n', " ")),
        Err(_) => println!("failed {name}: it took too long"),
    }
    std::process::exit(1)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let mut talk = step("connect", connect(&arguments[1], &arguments[2], &arguments[3])).await;
    step("list", talk.list()).await;
    step("call with progress", talk.call_with_progress()).await;
    step("cancel", talk.cancel()).await;
    step("subscribe", talk.subscribe()).await;
    step("resume after a cut", talk.resume_after_a_cut()).await;
    step("resume after a restart", talk.resume_after_a_restart()).await;
    let _ = talk.client.cancel().await;
}
