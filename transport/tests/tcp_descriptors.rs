//! Counts the process's sockets, so it has a process of its own.

#[allow(dead_code)]
mod behaviour;

#[tokio::test]
async fn no_descriptor_is_leaked() {
    behaviour::no_descriptor_is_leaked(transport::Protocol::Tcp).await;
}
