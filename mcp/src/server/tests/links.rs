//! Links to octets: who may follow them, and what they give.

use super::*;
use crate::exact_link::ExactLink;

const OCTETS: &[u8] = b"BEGIN:VCALENDAR\r\nnot calendar data \xff\r\n";

async fn exact() -> Client {
    let local = (1..=5).fold(Local::memory(), |local, number| {
        local.with_calendar(&number.to_string(), "any")
    });
    let local = local.put("1/a.ics", OCTETS);
    Client::configured(local, &[], json!({}), |config| config.exact = true).await
}

impl Client {
    fn link(&self, path: &str, tag: &str) -> String {
        let (href, tag) = (self.upstream.uri(path), tag.to_owned());
        ExactLink { href, tag }.uri()
    }

    async fn ask(&mut self, id: usize, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
    }

    async fn refuses(&mut self, id: usize, code: i64) {
        let message = self.receive().await;
        assert_eq!(
            (&message["id"], &message["error"]["code"]),
            (&json!(id), &json!(code)),
            "{message}"
        );
    }

    /// The tag of a member, as results give it.
    async fn tag(&mut self, path: &str) -> String {
        let arguments = json!({"href": self.upstream.uri(path)});
        let params = json!({"name": "calendar_resources_get", "arguments": arguments});
        self.ask(800, "tools/call", params).await;
        self.held.recv().await.expect("an exchange").pass();
        let result = self.answer(800).await;
        let tag = &result["structuredContent"]["snapshot"]["resourceRevision"]["entityTag"];
        tag.as_str().expect("a tag").to_owned()
    }
}

#[tokio::test(start_paused = true)]
async fn a_link_gives_the_octets_of_its_state_and_no_other() {
    let mut client = exact().await;
    let tag = client.tag("/1/a.ics").await;
    client.ask(1, "resources/list", json!({})).await;
    assert_eq!(client.answer(1).await["resources"], json!([]));
    let link = client.link("/1/a.ics", &tag);
    client.ask(2, "resources/read", json!({"uri": link})).await;
    client.held.recv().await.expect("an exchange").pass();
    let result = client.answer(2).await;
    let contents = json!([{"uri": link, "mimeType": "text/calendar; charset=utf-8", "blob": STANDARD.encode(OCTETS)}]);
    assert_eq!(result["contents"], contents);
    assert_eq!(
        (&result["ttlMs"], &result["cacheScope"]),
        (&json!(0), &json!("private"))
    );
    // Another state, and what is not there.
    for (id, path, tag) in [(3, "/1/a.ics", "\"other\""), (4, "/1/b.ics", tag.as_str())] {
        let link = client.link(path, tag);
        client.ask(id, "resources/read", json!({"uri": link})).await;
        client.held.recv().await.expect("an exchange").pass();
        client.refuses(id, -32602).await;
    }
    // What is outside, and what is no link, is not even asked for.
    let outside = ["file:///etc/passwd", "https://other.example/1/a.ics"].map(|href| ExactLink {
        href: href.into(),
        tag: tag.clone(),
    });
    let [file, other] = outside.map(|link| link.uri());
    for (id, uri) in [file, other, client.link("/31/a.ics", &tag), "caldav-exact://x".into()]
        .into_iter()
        .enumerate()
    {
        client.ask(10 + id, "resources/read", json!({"uri": uri})).await;
        client.refuses(10 + id, -32602).await;
    }
    assert_eq!(client.upstream.log().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_link_waits_for_its_turn() {
    let mut client = exact().await;
    let tag = client.tag("/1/a.ics").await;
    let _at_work = client.crowd(0).await;
    let link = client.link("/1/a.ics", &tag);
    client.ask(5, "resources/read", json!({"uri": link})).await;
    client.is_silent().await;
    advance(Duration::from_millis(2001)).await;
    client.refuses(5, -32603).await;
}

#[tokio::test(start_paused = true)]
async fn without_exact_tools_there_are_no_links() {
    let mut client = Client::new().await;
    let link = client.link("/1/a.ics", "\"1\"");
    client.ask(1, "resources/read", json!({"uri": link})).await;
    client.refuses(1, -32601).await;
    client.ask(2, "resources/list", json!({})).await;
    client.refuses(2, -32601).await;
}
