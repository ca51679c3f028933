//! Makes a connection, and says in plain words why there is none.

use proto::guidance as pb;
use proto::guidance::guidance_service_client::GuidanceServiceClient;
use proto::guidance::{guide_request::Message as Out, guide_response::Message as In};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use tonic::transport::Endpoint;

/// Larger messages of the xApp are refused; a batch for 4096 flows has less than 800 KiB.
const MAX_MESSAGE: usize = 1 << 20;
/// Longest text of the xApp that is kept (a reason, a detail, a name).
const MAX_TEXT: usize = 512;

/// Connects and opens the stream, up to the xApp's first message.
pub(super) async fn open(
    endpoint: Endpoint,
    hello: pb::Hello,
    outbound: mpsc::Sender<pb::GuideRequest>,
    requests: mpsc::Receiver<pb::GuideRequest>,
) -> Result<(Streaming<pb::GuideResponse>, pb::Welcome), String> {
    let channel = endpoint.connect().await.map_err(|e| describe(&e))?;
    let mut client = GuidanceServiceClient::new(channel).max_decoding_message_size(MAX_MESSAGE);
    // The channel is new: there is room. The xApp may wait for it before it answers the call.
    let _ = outbound.try_send(request(Out::Hello(hello)));
    let response = client.guide(ReceiverStream::new(requests)).await;
    let mut inbound = response.map_err(|e| ended(&e))?.into_inner();
    match inbound.message().await.map_err(|e| ended(&e))? {
        Some(pb::GuideResponse {
            message: Some(In::Welcome(welcome)),
        }) => Ok((inbound, welcome)),
        Some(_) => Err("the xApp's first message is not a welcome".into()),
        None => Err("the xApp closed the stream".into()),
    }
}

pub(super) fn request(message: Out) -> pb::GuideRequest {
    pb::GuideRequest {
        message: Some(message),
    }
}

/// The text, cut to what is worth keeping.
pub(super) fn text(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        text.truncate(text.floor_char_boundary(MAX_TEXT));
        text.shrink_to_fit();
    }
    text
}

/// Why a stream ended, in the words of the xApp or of the transport.
pub(super) fn ended(status: &tonic::Status) -> String {
    let why = match status.message() {
        "" => status.code().description(),
        message => message,
    };
    text(format!("the stream ended: {why}"))
}

/// An error with its causes: transport errors say what happened only in them.
fn describe(error: &(dyn std::error::Error + 'static)) -> String {
    let mut out = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !out.contains(&cause_text) {
            out = format!("{out}: {cause_text}");
        }
        source = cause.source();
    }
    text(out)
}
