//! Changes: one at a time, not while a person thinks, and heard out once they have left.

use super::*;

const POLICY: (&str, &str) = ("CALDAV_CONFIRMATION_POLICY", "never");

fn event(uid: &str) -> String {
    format!(
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//test//EN\r\nBEGIN:VEVENT\r\nUID:{uid}\r\nDTSTAMP:20260101T000000Z\r\n\
         DTSTART:20261201T090000Z\r\nDTEND:20261201T093000Z\r\nSUMMARY:Event\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )
}

impl Client {
    /// A client of a Calendar with the events `a` and `b`, and of an empty one.
    async fn with_events(extra: &[(&str, &str)], capabilities: Value) -> Self {
        let local = Local::memory().with_calendar("1", "any").with_calendar("2", "any");
        let local = local.put("1/a.ics", event("a")).put("1/b.ics", event("b"));
        Self::of(local, extra, capabilities).await
    }

    async fn tool(&mut self, id: usize, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
            .await;
    }

    /// The next exchange passes, and is this one.
    async fn passes(&mut self, line: &str) {
        self.next(line).await.pass();
    }

    async fn next(&mut self, line: &str) -> Held {
        let held = tokio::select! {
            held = self.held.recv() => held.expect("an exchange"),
            message = self.input.next_line() => panic!("not {line} but {message:?}"),
        };
        assert_eq!(held.seen.line, format!("{line} HTTP/1.1"));
        held
    }

    /// The arguments that delete an event.
    async fn deletion(&mut self, name: &str) -> Value {
        let href = self.upstream.uri(&format!("/1/{name}.ics"));
        self.tool(
            900,
            json!({"name": "calendar_resources_get", "arguments": {"href": href}}),
        )
        .await;
        self.passes(&format!("GET /1/{name}.ics")).await;
        let result = self.answer(900).await;
        json!({"revision": result["structuredContent"]["snapshot"]["entityRevision"]})
    }

    async fn delete(&mut self, id: usize, arguments: &Value) {
        let params = json!({"name": "calendar_resources_delete", "arguments": arguments});
        self.tool(id, params).await;
    }

    /// What is left of a deletion once it has its turn and its consent.
    async fn is_deleted(&mut self, id: usize, name: &str) {
        self.passes(&format!("GET /1/{name}.ics")).await;
        self.passes(&format!("DELETE /1/{name}.ics")).await;
        self.passes(&format!("GET /1/{name}.ics")).await;
        self.succeeds(id).await;
    }

    /// The id of the form that comes next.
    async fn form(&mut self) -> Value {
        let mut message = self.receive().await;
        assert_eq!(message["method"], "elicitation/create", "{message}");
        message["id"].take()
    }

    async fn agree(&mut self, form: &Value) {
        let answer = json!({"action": "accept", "content": {"confirm": true}});
        self.send(json!({"jsonrpc": "2.0", "id": form, "result": answer})).await;
    }

    async fn fails(&mut self, id: usize, code: &str, state: &str) {
        let result = self.answer(id).await;
        let error = &result["structuredContent"];
        assert_eq!((&error["code"], &error["mutationState"]), (&json!(code), &json!(state)));
    }
}

fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

#[tokio::test(start_paused = true)]
async fn changes_are_made_one_after_the_other_beside_reads() {
    let mut client = Client::with_events(&[POLICY], json!({})).await;
    let (a, b) = (client.deletion("a").await, client.deletion("b").await);
    client.delete(1, &a).await;
    let first = client.next("GET /1/a.ics").await;
    client.delete(3, &b).await;
    // A read is not held up by them.
    client.call(2).await;
    client.exchange(2).await.pass();
    client.succeeds(2).await;
    first.pass();
    client.passes("DELETE /1/a.ics").await;
    client.passes("GET /1/a.ics").await;
    client.succeeds(1).await;
    client.is_deleted(3, "b").await;
    client.is_silent().await;
}

#[tokio::test(start_paused = true)]
async fn a_change_waits_for_the_one_before_it_for_two_seconds() {
    let mut client = Client::with_events(&[POLICY], json!({})).await;
    let (a, b) = (client.deletion("a").await, client.deletion("b").await);
    client.delete(1, &a).await;
    let first = client.next("GET /1/a.ics").await;
    client.delete(2, &b).await;
    client.is_silent().await;
    advance(Duration::from_millis(1999)).await;
    client.is_silent().await;
    advance(Duration::from_millis(2)).await;
    client.fails(2, "busy", "not_attempted").await;
    first.pass();
    client.passes("DELETE /1/a.ics").await;
    client.passes("GET /1/a.ics").await;
    client.succeeds(1).await;
}

#[tokio::test(start_paused = true)]
async fn a_person_may_take_ten_minutes() {
    let mut client = Client::with_events(&[], forms()).await;
    let a = client.deletion("a").await;
    for (id, seconds) in [(1, 600), (2, 599)] {
        client.delete(id, &a).await;
        client.passes("GET /1/a.ics").await;
        let form = client.form().await;
        advance(Duration::from_secs(seconds)).await;
        client.is_silent().await;
        client.agree(&form).await;
        if seconds == 600 {
            client.fails(id, "confirmation_expired", "not_attempted").await;
        } else {
            // With a whole budget of its own.
            client.is_deleted(id, "a").await;
        }
    }
    // The same for a question that went back with the call.
    let b = client.deletion("b").await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": forms()
    });
    let mut params = json!({"name": "calendar_resources_delete", "arguments": b, "_meta": meta});
    for (id, seconds) in [(3, 600), (5, 599)] {
        client.tool(id, params.clone()).await;
        client.passes("GET /1/b.ics").await;
        let result = client.answer(id).await;
        let mut again = params.clone();
        again["requestState"] = result["requestState"].clone();
        again["inputResponses"] = json!({"confirm_delete": {"action": "accept", "content": {"confirm": true}}});
        advance(Duration::from_secs(seconds)).await;
        client.tool(id + 1, again).await;
        if seconds == 600 {
            client.fails(id + 1, "confirmation_expired", "not_attempted").await;
        } else {
            client.is_deleted(id + 1, "b").await;
        }
    }
    params["arguments"].take();
}

#[tokio::test(start_paused = true)]
async fn an_answer_of_a_person_is_not_lost_because_another_change_is_at_work() {
    let mut client = Client::with_events(&[], forms()).await;
    let (a, b) = (client.deletion("a").await, client.deletion("b").await);
    client.delete(1, &a).await;
    client.passes("GET /1/a.ics").await;
    let form = client.form().await;
    client.delete(2, &b).await;
    let other = client.next("GET /1/b.ics").await;
    client.agree(&form).await;
    client.is_silent().await;
    advance(Duration::from_secs(5)).await;
    client.is_silent().await;
    other.pass();
    let form = client.form().await;
    client.is_deleted(1, "a").await;
    client.agree(&form).await;
    client.is_deleted(2, "b").await;
}

#[tokio::test(start_paused = true)]
async fn a_change_that_is_taken_back_before_it_leaves_never_does() {
    let mut client = Client::with_events(&[POLICY], json!({})).await;
    let (a, b) = (client.deletion("a").await, client.deletion("b").await);
    client.delete(1, &a).await;
    let hung_up = hang_up(client.next("GET /1/a.ics").await);
    client.cancel(1).await;
    hung_up.await;
    client.delete(2, &b).await;
    client.is_deleted(2, "b").await;
    client.is_silent().await;
    assert!(client.held.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_change_that_has_left_is_heard_out() {
    let mut client = Client::with_events(&[POLICY], json!({})).await;
    let (a, b) = (client.deletion("a").await, client.deletion("b").await);
    client.delete(1, &a).await;
    client.passes("GET /1/a.ics").await;
    let written = client.next("DELETE /1/a.ics").await;
    client.cancel(1).await;
    client.delete(2, &b).await;
    client.is_silent().await;
    written.pass();
    // It is looked into, not answered, and the next one waits for it.
    client.passes("GET /1/a.ics").await;
    client.is_deleted(2, "b").await;
    client.is_silent().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_leaves_does_not_end_a_change_that_has_left() {
    let mut client = Client::with_events(&[POLICY], json!({})).await;
    let (a, b) = (client.deletion("a").await, client.deletion("b").await);
    client.delete(1, &a).await;
    client.passes("GET /1/a.ics").await;
    let written = client.next("DELETE /1/a.ics").await;
    client.delete(2, &b).await;
    client.is_silent().await;
    client.output.shutdown().await.expect("closed");
    // Longer than the SDK waits for answers.
    for _ in 0..8 {
        advance(Duration::from_secs(1)).await;
        tokio::task::yield_now().await;
    }
    assert!(!client.serving.is_finished());
    written.pass();
    client.held.recv().await.expect("the last look").pass();
    client.serving.await.expect("no panic").expect("a quiet end");
    let lines: Vec<_> = client.upstream.log().iter().map(|seen| seen.line.clone()).collect();
    let expected = ["GET /1/a.ics", "DELETE /1/a.ics", "GET /1/a.ics"].map(|line| format!("{line} HTTP/1.1"));
    assert_eq!(lines[2..], expected);
}

#[tokio::test(start_paused = true)]
async fn whoever_ends_the_server_gets_the_answer_to_a_change_that_has_left() {
    let mut client = Client::with_events(&[POLICY], json!({})).await;
    let a = client.deletion("a").await;
    client.delete(1, &a).await;
    client.passes("GET /1/a.ics").await;
    let written = client.next("DELETE /1/a.ics").await;
    client.stop.take().expect("running").send(()).expect("it listens");
    written.pass();
    client.passes("GET /1/a.ics").await;
    client.succeeds(1).await;
    client.serving.await.expect("no panic").expect("a quiet end");
}

#[tokio::test(start_paused = true)]
async fn a_change_tells_how_far_it_is() {
    let mut client = Client::with_events(&[], forms()).await;
    let a = client.deletion("a").await;
    let params = json!({"name": "calendar_resources_delete", "arguments": a, "_meta": {"progressToken": "one"}});
    client.tool(1, params).await;
    client.passes("GET /1/a.ics").await;
    let form = client.form().await;
    let said = async |client: &mut Client, millis: u64| {
        client.is_silent().await;
        advance(Duration::from_millis(millis)).await;
        let mut message = client.receive().await;
        assert_eq!(message["params"]["progressToken"], "one", "{message}");
        message["params"]["message"].take()
    };
    assert_eq!(said(&mut client, 501).await, "confirmation");
    client.agree(&form).await;
    client.passes("GET /1/a.ics").await;
    let written = client.next("DELETE /1/a.ics").await;
    assert_eq!(said(&mut client, 251).await, "write");
    written.pass();
    client.passes("GET /1/a.ics").await;
    client.succeeds(1).await;
}
