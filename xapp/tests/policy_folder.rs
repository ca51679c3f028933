//! Slice policies from a folder: what changes in it is taken over, and nothing else.

use policies::slice::Source;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use xapp::operate::policy::{Folder, Policies, watch_folder};
use xapp::store::Store;

fn policies() -> Policies {
    Policies::new(Store::memory())
}

fn policy(name: &str, priority: i32) -> String {
    format!(
        "apiVersion: cantor.io/v1\nkind: SlicePolicy\nmetadata: {{ name: {name} }}\nspec: {{ priority: {priority} }}\n"
    )
}

fn write(folder: &Path, file: &str, text: &str) {
    std::fs::write(folder.join(file), text).unwrap();
}

/// Name and priority of all policies.
fn in_force(policies: &Policies) -> Vec<(String, i32)> {
    let set = policies.read();
    let all = set.iter().map(|entry| {
        assert_eq!(entry.origin.source, Source::File);
        (entry.policy.name().to_owned(), entry.policy.spec.priority)
    });
    all.collect()
}

fn expected(policies: &[(&str, i32)]) -> Vec<(String, i32)> {
    policies
        .iter()
        .map(|(name, p)| ((*name).to_owned(), *p))
        .collect()
}

#[test]
fn files_come_change_break_and_go() {
    let (policies, temporary) = (policies(), tempfile::tempdir().unwrap());
    let at = temporary.path();
    let mut folder = Folder::new(policies.clone(), at.to_owned());
    folder.look();
    assert_eq!(in_force(&policies), []);

    write(at, "a.yaml", &policy("a", 1));
    write(
        at,
        "b.json",
        r#"{"apiVersion":"cantor.io/v1","kind":"SlicePolicy","metadata":{"name":"b"},"spec":{}}"#,
    );
    write(at, "notes.txt", "no policy");
    write(at, ".hidden.yaml", "no policy");
    folder.look();
    assert_eq!(in_force(&policies), expected(&[("a", 1), ("b", 0)]));
    let revision = policies.revision();
    folder.look();
    assert_eq!(policies.revision(), revision, "nothing has changed");

    // A mistake: what the file said before stays, and the mistake is told.
    write(at, "a.yaml", &policy("a", 2).replace("priority", "prio"));
    folder.look();
    assert_eq!(in_force(&policies), expected(&[("a", 1), ("b", 0)]));
    let problems = policies.problems();
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].starts_with("a.yaml:4: spec.prio: unknown field"),
        "{problems:?}"
    );

    // Mended, and with another policy; then that one moves to another file.
    write(
        at,
        "a.yaml",
        &format!("{}---\n{}", policy("a", 3), policy("c", 0)),
    );
    folder.look();
    assert!(policies.problems().is_empty());
    assert_eq!(
        in_force(&policies),
        expected(&[("a", 3), ("b", 0), ("c", 0)])
    );
    write(at, "a.yaml", &policy("a", 3));
    write(at, "c.yml", &policy("c", 7));
    folder.look();
    assert_eq!(
        in_force(&policies),
        expected(&[("a", 3), ("b", 0), ("c", 7)])
    );

    // The same name twice: the later file is not used.
    write(at, "d.yaml", &policy("a", 9));
    folder.look();
    assert_eq!(
        in_force(&policies),
        expected(&[("a", 3), ("b", 0), ("c", 7)])
    );
    assert_eq!(
        policies.problems(),
        ["d.yaml:1: metadata.name: a is in a.yaml too"]
    );
    std::fs::remove_file(at.join("a.yaml")).unwrap();
    folder.look();
    assert_eq!(
        in_force(&policies),
        expected(&[("a", 9), ("b", 0), ("c", 7)])
    );
    assert!(policies.problems().is_empty());

    // A folder that cannot be read says nothing.
    std::fs::remove_dir_all(at).unwrap();
    folder.look();
    assert_eq!(in_force(&policies).len(), 3);
    assert_eq!(policies.problems().len(), 1);
}

/// As the kubelet does it: files are links into `..data`, itself a link that is swapped.
#[test]
fn a_swapped_config_map_is_taken_over_as_a_whole() {
    let (policies, temporary) = (policies(), tempfile::tempdir().unwrap());
    let at = temporary.path();
    let version = |name: &str, priority| {
        let folder = at.join(name);
        std::fs::create_dir(&folder).unwrap();
        write(&folder, "a.yaml", &policy("a", priority));
        write(&folder, "b.yaml", &policy("b", priority));
        symlink(name, at.join("..data_tmp")).unwrap();
        std::fs::rename(at.join("..data_tmp"), at.join("..data")).unwrap();
    };
    version("..2026_1", 1);
    for file in ["a.yaml", "b.yaml"] {
        symlink(Path::new("..data").join(file), at.join(file)).unwrap();
    }
    let mut folder = Folder::new(policies.clone(), at.to_owned());
    folder.look();
    assert_eq!(in_force(&policies), expected(&[("a", 1), ("b", 1)]));
    version("..2026_2", 2);
    folder.look();
    assert_eq!(in_force(&policies), expected(&[("a", 2), ("b", 2)]));
}

#[tokio::test]
async fn a_watched_folder_is_looked_at_again_and_again() {
    let (policies, temporary) = (policies(), tempfile::tempdir().unwrap());
    let stop = CancellationToken::new();
    let period = Duration::from_millis(10);
    let at = temporary.path().to_owned();
    let watching = tokio::spawn(watch_folder(
        policies.clone(),
        at.clone(),
        period,
        stop.clone(),
    ));
    let mut changes = policies.changes();
    write(&at, "a.yaml", &policy("a", 1));
    changes
        .wait_for(|_| in_force(&policies).len() == 1)
        .await
        .unwrap();
    std::fs::remove_file(at.join("a.yaml")).unwrap();
    changes
        .wait_for(|_| in_force(&policies).is_empty())
        .await
        .unwrap();
    stop.cancel();
    watching.await.unwrap();
}

#[test]
fn operators_policies_outlive_the_process_and_files_do_not() {
    let store = Store::memory();
    let temporary = tempfile::tempdir().unwrap();
    write(temporary.path(), "a.yaml", &policy("a", 1));
    let before = Policies::new(store.clone());
    Folder::new(before.clone(), temporary.path().to_owned()).look();
    before
        .apply(Source::Operator, &policy("kept", 5), "kept.yaml", false)
        .unwrap();
    before
        .apply(Source::Operator, &policy("gone", 5), "gone.yaml", false)
        .unwrap();
    assert!(before.remove(Source::Operator, "gone"));
    assert_eq!(before.read().len(), 2);

    let after = Policies::new(store);
    let set = after.read();
    assert_eq!(set.len(), 1);
    let kept = set.get(Source::Operator, "kept").unwrap();
    assert_eq!(kept.policy.spec.priority, 5);
    assert_eq!(kept.origin.to_string(), "operator (kept.yaml:1)");
}
