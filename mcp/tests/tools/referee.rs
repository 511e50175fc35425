//! Whether results have the shape that they should.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use jsonschema::Validator;
use serde_json::{Value, json};

use crate::client::Server;

/// Validators of output schemas, by the listed name of the tool.
type Validators = Vec<(String, Validator)>;

/// Those of the reference, if `KALENDS_REFERENCE_CATALOG` names its catalog.
static REFERENCE: LazyLock<Option<Validators>> = LazyLock::new(|| {
    let Ok(path) = std::env::var("KALENDS_REFERENCE_CATALOG") else {
        println!("skipped: validation against the reference (KALENDS_REFERENCE_CATALOG is unset)");
        return None;
    };
    let text = std::fs::read_to_string(path).expect("the reference catalog");
    let catalog: Value = serde_json::from_str(&text).expect("JSON");
    let tools = catalog["tools"].as_array().expect("tools").iter();
    Some(compiled(tools, &catalog["$defs"]))
});

/// How many errors and successes were validated against the reference by this process.
static CHECKED: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

fn listed(tool: &Value) -> String {
    tool["name"].as_str().expect("a name").replace('.', "_")
}

fn compiled<'a>(tools: impl Iterator<Item = &'a Value>, definitions: &Value) -> Validators {
    let compile = |tool: &Value| {
        let mut schema = tool["outputSchema"].clone();
        if !definitions.is_null() {
            schema["$defs"] = definitions.clone();
        }
        (
            listed(tool),
            jsonschema::validator_for(&schema).expect("an output schema"),
        )
    };
    tools.map(compile).collect()
}

fn validate(validators: &Validators, tool: &str, result: &Value) {
    let (_, validator) = validators.iter().find(|(name, _)| name == tool).expect("a known tool");
    validator
        .validate(result)
        .unwrap_or_else(|error| panic!("{tool}: {error} at {}\n{result:#}", error.instance_path()));
}

/// Validates against the advertised output schemas, and results with `detail: full` and errors against those of the
/// reference.
pub(crate) struct Referee {
    own: Validators,
}

impl Referee {
    pub(crate) fn new(server: &mut Server) -> Self {
        let list = server.ask("tools/list", json!({}));
        Self {
            own: compiled(list["tools"].as_array().expect("tools").iter(), &Value::Null),
        }
    }

    pub(crate) fn own(&self, tool: &str, result: &Value) {
        validate(&self.own, tool, result);
    }

    pub(crate) fn full(&self, tool: &str, result: &Value) {
        self.own(tool, result);
        if let Some(reference) = &*REFERENCE {
            validate(reference, tool, result);
            CHECKED[usize::from(result.get("outcome").is_some())].fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Each says how many it were so far; the last one says how many in all.
impl Drop for Referee {
    fn drop(&mut self) {
        let [errors, successes] = [0, 1].map(|at| CHECKED[at].load(Ordering::Relaxed));
        if errors + successes > 0 {
            println!("validated against the reference so far: {successes} successes, {errors} errors");
        }
    }
}
