//! The protocol side: the only module that names the SDK's types.
//!
//! One handler answers all five revisions. It is served without the SDK's opening handshake, because that ends the
//! process on an early notification and never lets `initialize` follow a modern request; `transport::Gate` sees to
//! it that each request names its revision or follows an `initialize`.

use std::borrow::Cow;
use std::io;
use std::pin::Pin;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kalends_core::outcome::{Category, Error};
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ClientJsonRpcMessage,
    ClientResult, ContentBlock, CustomRequest, CustomResult, DiscoverResult, ElicitRequest, ElicitRequestParams,
    ElicitationAction, ElicitationCapability, ErrorCode, ErrorData, FormElicitationCapability, GetExtensions,
    Implementation, InitializeRequestParams, InitializeResult, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, JsonRpcMessage, ListToolsResult, MetaObject, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    RequestId, ResourceContents, ResourcesCapability, ServerCapabilities, ServerConfig, ServerJsonRpcMessage,
    ServerRequest, Tool, ToolAnnotations,
};
use rmcp::service::{PeerRequestOptions, RequestContext, ServiceError, serve_directly};
use rmcp::transport::Transport;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;

use crate::caller::{self, Asking, Caller, Callers, Question, Said};
use crate::catalog::{self, Naming, ToolSpec};
use crate::exact_link::MEDIA_TYPE;
use crate::json::Flaw;
use crate::session::{Answer, Call, Reply, Session, TOKEN};
use crate::transport::{Accepted, Gate, Line, Lines, MAX_LINE, Refusal};

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
const MODERN: &str = "2026-07-28";
const FIRST_WITH_FORMS: &str = "2025-06-18";

/// Serves a session over standard input and output, until the input ends or `stop` resolves.
///
/// # Errors
/// If the service's task cannot be joined.
pub(crate) async fn serve_stdio(
    session: Arc<Session>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let (input, output) = rmcp::transport::io::stdio_pipes();
    serve(session, input, output, stop).await
}

/// Serves a session over any pair of streams. A change that has left is heard out before the end.
///
/// # Errors
/// If the service's task cannot be joined.
pub(crate) async fn serve<R, W>(
    session: Arc<Session>,
    input: R,
    output: W,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (closing, closed) = watch::channel(false);
    let server = Server {
        naming: session.naming(),
        session: Arc::clone(&session),
        closed,
    };
    let running = serve_directly(server, Pipes::new(input, output, closing, Box::pin(stop)), None);
    let ended = running.waiting().await;
    session.settled().await;
    ended.map(drop).map_err(io::Error::other)
}

/// What the transport knows of a call beyond its parsed arguments.
#[derive(Clone, Debug, Default)]
struct Raw {
    flaws: Vec<(String, Flaw)>,
    octets: usize,
}

struct Server {
    session: Arc<Session>,
    naming: Naming,
    /// True once the input has ended.
    closed: watch::Receiver<bool>,
}

impl Server {
    fn identity() -> Implementation {
        let mut identity = Implementation::new("kalends", env!("CARGO_PKG_VERSION"));
        identity.title = Some("Kalends: CalDAV calendars".into());
        identity
    }

    /// `_meta` of a result: the server's identity where the revision wants it.
    fn meta(context: &RequestContext<RoleServer>) -> Option<MetaObject> {
        let modern = context
            .protocol_version()
            .is_some_and(|version| version.as_str() >= MODERN);
        modern.then(|| {
            let mut meta = MetaObject::new();
            meta.0.insert(SERVER_INFO.into(), json!(Self::identity()));
            meta
        })
    }

    fn tool(&self, spec: &ToolSpec) -> Tool {
        let object = |value: &Value| Arc::new(value.as_object().cloned().unwrap_or_default());
        let change = spec.kind.change();
        let mut input = object(&spec.input);
        if self.session.takes_token(spec.kind)
            && let Some(Value::Object(properties)) = Arc::make_mut(&mut input).get_mut("properties")
        {
            properties.insert(
                TOKEN.into(),
                json!({"type": "string", "description": "that of confirmation_required, after the user has agreed"}),
            );
        }
        let mut tool = Tool::new(spec.name(self.naming), spec.description, input)
            .with_title(spec.title)
            .with_raw_output_schema(object(&spec.output))
            .with_annotations(
                ToolAnnotations::with_title(spec.title)
                    .read_only(change.is_none())
                    .destructive(change.is_some_and(|change| change.destructive))
                    .idempotent(change.is_none_or(|change| change.idempotent))
                    .open_world(true),
            );
        let mut meta = MetaObject::new();
        meta.0.insert(
            catalog::CACHE_KEY.into(),
            json!({"ttlMs": spec.ttl_ms, "cacheScope": "private"}),
        );
        tool.meta = Some(meta);
        tool
    }

    fn callers(&self, context: &RequestContext<RoleServer>, phase: &watch::Sender<&'static str>) -> Callers {
        let (token, closed, phase) = (context.ct.clone(), self.closed.clone(), phase.clone());
        Box::new(move || Caller {
            canceled: Box::pin(token.clone().cancelled_owned()),
            gone: Box::pin(gone(closed.clone())),
            phase: phase.clone(),
        })
    }

    /// How this client can ask its user: by revision and by what it declares. An empty declaration means forms.
    fn asking(
        &self,
        context: &RequestContext<RoleServer>,
        state: Option<String>,
        responses: Option<InputResponses>,
    ) -> Asking {
        let declared = context.client_capabilities().unwrap_or_default().elicitation;
        let forms = declared.is_some_and(|modes| modes.form.is_some() || modes.url.is_none());
        let version = context.protocol_version();
        let version = version.as_ref().map_or("", |version| version.as_str());
        if version >= MODERN {
            return Asking::Again {
                forms,
                state,
                responses: responses.map_or(Value::Null, |responses| json!(responses)),
            };
        }
        if !forms || version < FIRST_WITH_FORMS {
            return Asking::Never;
        }
        let (peer, token, closed) = (context.peer.clone(), context.ct.clone(), self.closed.clone());
        Asking::Meanwhile(Box::new(move |question| {
            let (peer, token, closed) = (peer.clone(), token.clone(), closed.clone());
            Box::pin(async move {
                let Ok(form) = form(question) else {
                    return Said::Refused;
                };
                let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
                let options = PeerRequestOptions::no_options();
                let Ok(mut asked) = peer.send_cancellable_request(request, options).await else {
                    return Said::Nothing;
                };
                let answer = tokio::select! {
                    answer = &mut asked.rx => answer,
                    () = token.cancelled() => {
                        // The form would stay open.
                        let _ = asked.cancel(Some("The call was taken back.".into())).await;
                        return Said::Nothing;
                    }
                    () = gone(closed) => return Said::Nothing,
                };
                match answer {
                    Ok(Ok(ClientResult::ElicitResult(answer))) => {
                        let action = match answer.action {
                            ElicitationAction::Accept => "accept",
                            ElicitationAction::Decline => "decline",
                            ElicitationAction::Cancel => "cancel",
                            // Of a later revision.
                            _ => "",
                        };
                        Said::Answer(action.to_owned(), answer.content)
                    }
                    // Another kind of answer is no answer.
                    Ok(Ok(_)) => Said::Answer(String::new(), None),
                    Ok(Err(ServiceError::McpError(_))) => Said::Refused,
                    Ok(Err(_)) | Err(_) => Said::Nothing,
                }
            })
        }))
    }

    /// Sends a progress notification. False if nobody wants to know any more.
    async fn say(
        &self,
        context: &RequestContext<RoleServer>,
        token: &ProgressToken,
        count: u32,
        phase: &'static str,
    ) -> bool {
        let progress = ProgressNotificationParam::new(token.clone(), count.into()).with_message(phase);
        tokio::select! {
            biased;
            () = context.ct.cancelled() => false,
            // The SDK sends no notification after the input has ended, and does not say so.
            () = gone(self.closed.clone()) => false,
            sent = context.peer.notify_progress(progress) => sent.is_ok(),
        }
    }
}

/// A question as the protocol has it.
fn form(question: Question) -> Result<ElicitRequestParams, ErrorData> {
    let broken = |_| ErrorData::internal_error("The confirmation cannot be shown. Nothing was changed.", None);
    Ok(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: question.message,
        requested_schema: serde_json::from_value(question.schema).map_err(broken)?,
    })
}

/// Why a link gives nothing: −32602 if another link is needed, −32603 if the same may do later.
fn unread(error: &Error) -> ErrorData {
    let text = error.message.clone();
    match error.code.category() {
        Category::Input | Category::Selection | Category::State => ErrorData::invalid_params(text, None),
        Category::CapabilityAndProjection
        | Category::LimitsAndAdmission
        | Category::Upstream
        | Category::Confirmation
        | Category::PostWriteTruth => ErrorData::internal_error(text, None),
    }
}

/// Resolves when the input has ended.
async fn gone(mut closed: watch::Receiver<bool>) {
    // An error means that the transport is gone.
    let _ = closed.wait_for(|closed| *closed).await;
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder().enable_tools().build();
        capabilities.resources = self.session.exact.then(ResourcesCapability::default);
        ServerConfig::new(capabilities)
            .with_server_info(Self::identity())
            .with_instructions(catalog::instructions(self.naming))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        let result = self.negotiate_initialize(&request)?;
        let mut agreed = request;
        agreed.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(agreed);
        Ok(result)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(catalog::LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if request.is_some_and(|request| request.cursor.is_some()) {
            return Err(ErrorData::invalid_params("There is one page of tools only.", None));
        }
        let tools = catalog::tools(self.session.exact)
            .iter()
            .map(|spec| self.tool(spec))
            .collect();
        let mut result = ListToolsResult::with_all_items(tools)
            .with_ttl_ms(catalog::LIST_TTL_MS)
            .with_cache_scope(CacheScope::Private);
        result.meta = Self::meta(&context);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(spec) = catalog::find(&request.name, self.session.exact) else {
            let known: Vec<_> = catalog::tools(self.session.exact)
                .iter()
                .map(|spec| spec.name(self.naming))
                .collect();
            let text = format!("Unknown tool. There are: {}", known.join(", "));
            return Err(ErrorData::invalid_params(text, None));
        };
        let raw = context.extensions.remove::<Raw>().unwrap_or_default();
        let call = Call {
            spec,
            arguments: Value::Object(request.arguments.unwrap_or_default()),
            flaws: raw.flaws,
            octets: raw.octets,
        };
        let (phase, _) = watch::channel(caller::START);
        let callers = self.callers(&context, &phase);
        let session = Arc::clone(&self.session);
        let changes = spec.kind.change().is_some();
        // In a task of its own, so that a panic ends this call and nothing else.
        let task = if changes {
            let asking = self.asking(&context, request.request_state, request.input_responses);
            tokio::spawn(session.change(call, callers, asking))
        } else {
            let caller = callers();
            tokio::spawn(async move { Reply::Answer(session.answer(call, caller).await) })
        };
        let reply = match context.meta.get_progress_token() {
            Some(token) => caller::telling(task, &phase, |count, name| self.say(&context, &token, count, name)).await,
            None => task.await,
        };
        let lost = if changes { Answer::lost } else { Answer::broken };
        let answer = match reply.unwrap_or_else(|_| Reply::Answer(lost())) {
            Reply::Answer(answer) => answer,
            Reply::Ask(question, state) => {
                let mut questions = InputRequests::new();
                questions.insert(
                    question.key.into(),
                    InputRequest::Elicitation(ElicitRequest::new(form(question)?)),
                );
                let mut result = InputRequiredResult::new(Some(questions), Some(state));
                result.meta = Self::meta(&context);
                return Ok(result.into());
            }
            Reply::FormsRequired => {
                let form = FormElicitationCapability::default();
                let mut required = ClientCapabilities::default();
                required.elicitation = Some(ElicitationCapability::new().with_form(form));
                return Err(ErrorData::missing_required_client_capability(required));
            }
        };
        let content = vec![ContentBlock::text(answer.text)];
        let mut result = if answer.is_error {
            CallToolResult::error(content)
        } else {
            CallToolResult::success(content)
        };
        result.structured_content = answer.structured;
        result.meta = Self::meta(&context);
        Ok(result.into())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if !self.session.exact {
            return Err(ErrorData::method_not_found::<ReadResourceRequestMethod>());
        }
        let (phase, _) = watch::channel(caller::START);
        let caller = self.callers(&context, &phase)();
        let task = tokio::spawn(Arc::clone(&self.session).read_exact(request.uri.clone(), caller));
        let octets = match task.await {
            Ok(Ok(octets)) => octets,
            Ok(Err(error)) => return Err(unread(&error)),
            Err(_) => return Err(ErrorData::internal_error("The link could not be read.", None)),
        };
        let contents = ResourceContents::blob(STANDARD.encode(octets), request.uri).with_mime_type(MEDIA_TYPE);
        let mut result = ReadResourceResult::new(vec![contents])
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private);
        result.meta = Self::meta(&context);
        Ok(result.into())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A known method comes here when its params do not fit.
        if matches!(
            request.method.as_str(),
            "initialize"
                | "ping"
                | "server/discover"
                | "tools/list"
                | "tools/call"
                | "resources/list"
                | "resources/read"
        ) {
            let text = format!("Invalid params for {}", request.method);
            return Err(ErrorData::invalid_params(text, None));
        }
        let text = format!("Method not found: {}", request.method);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None))
    }
}

/// Lines in, lines out.
struct Pipes<R, W> {
    lines: Lines<R>,
    gate: Gate,
    output: Arc<Mutex<W>>,
    rejections: JoinSet<io::Result<()>>,
    closing: watch::Sender<bool>,
    /// Ends the input before its end.
    stop: Pin<Box<dyn Future<Output = ()> + Send>>,
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Pipes<R, W> {
    fn new(input: R, output: W, closing: watch::Sender<bool>, stop: Pin<Box<dyn Future<Output = ()> + Send>>) -> Self {
        Self {
            lines: Lines::new(input, MAX_LINE),
            gate: Gate::default(),
            output: Arc::new(Mutex::new(output)),
            rejections: JoinSet::new(),
            closing,
            stop,
        }
    }

    fn write(
        &self,
        message: &ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static + use<R, W> {
        let line = serde_json::to_vec(message);
        let output = Arc::clone(&self.output);
        async move {
            let mut line = line?;
            line.push(b'\n');
            let mut output = output.lock().await;
            output.write_all(&line).await?;
            output.flush().await
        }
    }

    fn reject(&mut self, id: Option<Value>, code: Refusal, text: String) {
        let id = id.and_then(|id| match id.as_str() {
            Some(text) => Some(RequestId::String(text.into())),
            None => id.as_i64().map(RequestId::Number),
        });
        let error = ErrorData::new(ErrorCode(code as i32), text, None);
        let write = self.write(&JsonRpcMessage::error(error, id));
        // Not awaited here: `receive` may be dropped at an await, and half a line must never be written.
        self.rejections.spawn(write);
        while self.rejections.try_join_next().is_some() {}
    }

    fn message(&mut self, line: &[u8]) -> Option<ClientJsonRpcMessage> {
        let (value, flaws) = match self.gate.accept(line) {
            Accepted::Message { value, flaws } => (value, flaws),
            Accepted::Ignore => return None,
            Accepted::Reject { id, code, text } => {
                self.reject(id, code, text);
                return None;
            }
        };
        let id = value.get("id").cloned();
        let is_request = id.is_some() && value.get("method").is_some();
        match serde_json::from_value::<ClientJsonRpcMessage>(value) {
            Ok(JsonRpcMessage::Request(mut request)) => {
                let raw = Raw {
                    flaws,
                    octets: line.len(),
                };
                request.request.extensions_mut().insert(raw);
                Some(JsonRpcMessage::Request(request))
            }
            Ok(message) => Some(message),
            Err(_) if is_request => {
                self.reject(id, Refusal::InvalidRequest, "Invalid Request".into());
                None
            }
            Err(_) => None,
        }
    }
}

impl<R, W> Transport<RoleServer> for Pipes<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn name() -> Cow<'static, str> {
        "stdio".into()
    }

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.write(&message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            let line = tokio::select! {
                biased;
                () = &mut self.stop => Ok(Line::End),
                line = self.lines.next() => line,
            };
            match line {
                Ok(Line::Text(line)) => {
                    if let Some(message) = self.message(&line) {
                        return Some(message);
                    }
                }
                Ok(Line::TooLong) => {
                    let text = format!("Invalid Request: a line may be {MAX_LINE} bytes long at most");
                    self.reject(None, Refusal::InvalidRequest, text);
                }
                Ok(Line::End) | Err(_) => {
                    self.closing.send_replace(true);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        while self.rejections.join_next().await.is_some() {}
        Ok(())
    }
}

#[cfg(test)]
mod tests;
