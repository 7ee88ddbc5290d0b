//! The relation of two patterns, by example.

use reglint::overlap::matcher::{self, Outcome};
use reglint::overlap::{
    Answer, Bound, Budget, Compiled, Kind, Reason, Relation, Sample, claims_everything,
    claims_nothing, relation, sample, too_large, within,
};
use reglint::pattern::{Ast, Versions, parse};

fn ast(pattern: &str) -> Ast {
    parse(pattern, Versions::ALL).unwrap_or_else(|error| panic!("{pattern}: {error:?}"))
}

fn related(a: &str, b: &str) -> Relation {
    relation(&ast(a), &ast(b), Budget::default())
}

/// Checks one pair both ways round, and that both patterns match the witness where it says.
fn check(a: &str, b: &str, kind: &Kind) -> Option<String> {
    let relation = related(a, b);
    assert_eq!(relation.kind, *kind, "{a}  {b}  {relation:?}");
    let flipped = related(b, a).flipped();
    assert_eq!(flipped.kind, *kind, "{b}  {a}  {flipped:?}");
    let text = relation.witness.as_ref().map(|witness| {
        for pattern in [a, b] {
            assert!(
                matches!(matcher::search(&ast(pattern), &witness.text), Outcome::Match(..)),
                "{witness:?}"
            );
        }
        if let Some((start, end)) = witness.shared {
            assert!(witness.a.0 <= start && end <= witness.a.1 && start < end, "{witness:?}");
            assert!(witness.b.0 <= start && end <= witness.b.1, "{witness:?}");
        }
        witness.text.clone()
    });
    assert_eq!(text.is_some(), !matches!(kind, Kind::None | Kind::Undecided(_)), "{a}  {b}");
    text
}

#[test]
fn table_of_the_design() {
    let rows = [
        (
            "MlxDevice::alloc_buffer::",
            "MlxDevice::alloc_buffer::",
            Kind::Equal,
            "MlxDevice::alloc_buffer::",
        ),
        ("foo(?=bar)", "foobar", Kind::Equal, "foobar"),
        ("kv::dispatch_kv_hb", "kv::dispatch_kv", Kind::AWithinB, "kv::dispatch_kv_hb"),
        ("lm_head|output_head", "head", Kind::AWithinB, "lm_head"),
        ("^main$", "main", Kind::AWithinB, "main"),
        ("rope::dispatch_rope(?!_cached)", "rope::dispatch_rope_cached", Kind::None, ""),
        ("foo(?!bar)", "foo(?=bar)", Kind::None, ""),
        ("alloc_buffer::", "MlxDevice::alloc_", Kind::Partial, "MlxDevice::alloc_buffer::"),
        ("a::b::foo", "foo::bar", Kind::Partial, "a::b::foo::bar"),
        ("a|b", "b|c", Kind::Partial, "b"),
        (
            "AGXG.*FamilyCommandBuffer",
            "AGXG17XFamily.*init",
            Kind::Partial,
            "AGXG17XFamilyCommandBufferinit",
        ),
        ("mlx_native.*count", "free_count", Kind::Partial, "mlx_native::free_count"),
        (
            "fused_norm_add.*f32",
            "dispatch_fused_moe_routing_batch_f32",
            Kind::Partial,
            "fused_norm_add::dispatch_fused_moe_routing_batch_f32",
        ),
        ("alloc(?!_x)", "alloc_[xy]z", Kind::Partial, "alloc_yz"),
        ("foo(?=.*bar)", "foo_x", Kind::Partial, "foo_xbar"),
        ("fused_norm", "norm_add", Kind::Partial, "fused_norm_add"),
        ("dispatch_rope", "rope_multi::", Kind::Partial, "dispatch_rope_multi::"),
        ("InvestigationEnv::from_env", "env_pair::", Kind::None, ""),
        ("rope_multi::dispatch_rope_multi", "rope_multi::build_rope_multi_buffers", Kind::None, ""),
        ("MlxDevice::.*new", "MlxDevice::alloc_buffer", Kind::None, ""),
        ("AGXG.*FamilyCommandBuffer", "AGXG17XFamilyComputeContext init", Kind::None, ""),
        ("AGXG.*FamilyCommandBuffer", "MlxDevice::alloc_buffer::", Kind::None, ""),
        ("MlxDevice", "alloc_buffer::", Kind::None, ""),
        ("proj", "j_foo", Kind::None, ""),
        ("gpu_ffn::build_dense_ffn_layer_gpu_q", "qwen35::gpu_ffn::proj::", Kind::None, ""),
        (
            "rope_multi::dispatch_rope_multi(?!_cached)",
            "rope_multi::build_rope_multi_buffers",
            Kind::None,
            "",
        ),
    ];
    for (a, b, kind, witness) in rows {
        let text = check(a, b, &kind);
        assert_eq!(text.unwrap_or_default(), witness, "{a}  {b}");
    }
}

#[test]
fn lookarounds_places_and_flags_take_part() {
    let equal = [
        (r"\bfoo\b", r"(?<!\w)foo(?!\w)"),
        (r"(?i)ab", r"[aA][bB]"),
        (r"(?i)k", "[kK\u{212a}]"),
        (r"(?i)i", "[iI\u{130}\u{131}]"),
        (r"(?ai)k", "[kK]"),
        (r"(?x) a b # c", "ab"),
        (r"(?s)a.b", r"a.b"),
        (r"(?m)^a$", r"\Aa\Z"),
        (r"a(?<=a)b", "ab"),
        (r"(?<=a(?=b))b", "(?<=a)b"),
        (r"(?<!^)a", r".a"),
        (r"(?<!\b)a", r"(?<=\w)a"),
        (r"a*?b", "a*b"),
        (r"a{2,3}c", "aac|aaac"),
        (r"(?>a|ab)c", "ac"),
        (r"(?>a+)b", "a+b"),
        (r"a*+a|x", "x"),
        (r"(?>a*b|c)d", "a*bd|cd"),
        (r"(?:ab?)++c", "(?:ab?)+c"),
        (r"(?>(?:a|ab)+)c", "a+c"),
        (r"(?>a*?)b", "b"),
        (r"[^\W\d]x", "[^\\W0-9]x(?<=[^\\d]x)"),
        (r"foo(?:|bar)", "foo"),
        (r"a(?!b)|ab", "a"),
        (r"(?=.*foo)(?=.*bar)", "foo.*bar|bar.*foo|x(?!)"),
        (r"\w", r"[^\W]"),
    ];
    for (a, b) in equal {
        check(a, b, &Kind::Equal);
    }
    let within = [
        (r"\d", r"\w"),
        (r"(?a:\w)", r"\w"),
        (r"(?a)\bfoo\b", r"foo"),
        (r"\bfoo\b", r"(?a)\bfoo\b"),
        (r"(?<=ab)c", "bc"),
        (r"(?<![ab])c", "c"),
        (r"(?<!\Aa)c$", "c"),
        (r"foo(?=.*bar)", "foo"),
        (r"(?!.*x)^foo", "^foo"),
        ("é", r"\w"),
        ("[à-ü]", "[à-ÿ]"),
        (r"a\Bb", "ab(?!c)|ab(?=c)|x"),
    ];
    for (a, b) in within {
        check(a, b, &Kind::AWithinB);
    }
    let none = [
        (r"foo\b", "foo_bar(?<=foo_bar)"),
        (r"^foo$", "foo::"),
        (r"(?<!::)alloc_buffer", "::alloc_buffer"),
        ("foo::bar", "baz::qux"),
        ("a(?!)", "a"),
        (r"(?>a*)a", "a"),
        ("foo\n", "foo"),
    ];
    for (a, b) in none {
        if (a, b) == (r"(?<!::)alloc_buffer", "::alloc_buffer")
            || (a, b) == (r"foo\b", "foo_bar(?<=foo_bar)")
        {
            // One name may hold both, one after the other; no text is shared.
            assert_eq!(related(a, b).kind, Kind::None, "{a}  {b}");
            continue;
        }
        check(a, b, &Kind::None);
    }
}

#[test]
fn what_is_not_regular_is_decided_where_it_can_be() {
    check(r"(a|b)\1", r"(a|b)\1", &Kind::Equal);
    check(r"(foo|bar)::\1", "baz", &Kind::None);
    check(r"(foo)::\1::x", "foo::foo", &Kind::AWithinB);
    check(r"(\w)(\w)\1\2", r"(\w)(\w)\1\2x?", &Kind::Undecided(Reason::Backreference));
    check(r"(foo|bar)::\1", "quux::foo", &Kind::Partial);
    check(r"(foo)?(?(1)x|y)z", "baz", &Kind::None);
    assert!(matches!(
        related(r"(foo|bar)\1", r"(bar|foo)\1").kind,
        Kind::Partial | Kind::Undecided(_)
    ));
}

#[test]
fn questions_on_one_pattern() {
    let budget = Budget::default();
    for everything in
        ["", "x*", ".", "a|", r"\w|\W", "(?=.)", r"^|a", "(?!ab)", r"[^\n]", r"a|[^a]"]
    {
        assert_eq!(claims_everything(&ast(everything), budget), Answer::Yes, "{everything}");
    }
    for (some, outside) in [("a", "b"), (r"\w", ":"), (".{3}", "a"), (r"\B", "a"), ("[^a]", "a")] {
        let answer = claims_everything(&ast(some), budget);
        assert_eq!(answer, Answer::No(outside.to_owned()), "{some}");
    }
    for nothing in
        ["(?!)", "a^", "$a", r"a\bb", "\n", "(?<=b)(?<=a)", r"(?=a)b", "[\0-\x1f]", "^$", "a(?<!a)"]
    {
        assert_eq!(claims_nothing(&ast(nothing), budget), Answer::Yes, "{nothing}");
    }
    assert_eq!(sample(&ast("foo.*bar|quux_long"), budget), Sample::Frame("foobar".to_owned()));
    assert_eq!(within(&ast("foo"), &ast("foo::"), budget), Answer::No("foo".to_owned()));
    assert_eq!(within(&ast("foo::x"), &ast("foo::"), budget), Answer::Yes);
    assert_eq!(within(&ast("ab|cd"), &ast("a|d"), budget), Answer::Yes);
}

#[test]
fn bounds_are_met_and_named() {
    let undecided = |a: &str, b: &str| match related(a, b).kind {
        Kind::Undecided(Reason::Bound(bound)) => bound,
        other => panic!("{other:?}"),
    };
    assert_eq!(undecided("(a{1,1000}){1,1000}b", "ab"), Bound::Size);
    let words: Vec<String> =
        (0..100_000).map(|i| format!("word_number_{i}_of_many_and_more")).collect();
    assert_eq!(undecided(&words.join("|"), "foo"), Bound::Size);
    assert_eq!(related("(a|b)*a(a|b){14}", "(?:[ab])*a[ab]{14}").kind, Kind::Equal);
    assert_eq!(related("(a|b)*a(a|b){13}$", "(a|b)*a(a|b){14}$").kind, Kind::Partial);
    assert_eq!(undecided("(a|b)*a(a|b){30}$", "(a|b)*a(a|b){29}[ab]$"), Bound::States);
}

/// A name that ends as another pattern begins has text in common with it in which no identifier starts:
/// where no word part of its own begins there either, it names nothing.
#[test]
fn the_tail_of_an_identifier() {
    for (a, b) in [
        ("BrandKernel", r"Kernel\/"),
        ("FastKernelBot", "KernelBot::"),
        ("brandkernel", "kernel_run"),
        ("EvoDeviceQueue", "DeviceQueue::run"),
    ] {
        check(a, b, &Kind::None);
    }
    for (a, b) in [
        ("brand_kernel", r"kernel\/"),
        ("Brand::Kernel", r"Kernel\/"),
        ("Brand.*Kernel", r"Kernel\/"),
        (r"Brand\w*Kernel", r"Kernel\/"),
    ] {
        check(a, b, &Kind::Partial);
    }
    check("BrandKernel", "Kernel", &Kind::AWithinB);
}

#[test]
fn what_is_too_large_is_plain_to_see() {
    let large = "(?:module_name|other_name)".repeat(60_000);
    for pattern in ["(a{1,1000}){1,1000}", "((?:ab){20}|c){50000}", large.as_str()] {
        assert_eq!(too_large(&ast(pattern)), Some(Reason::Bound(Bound::Size)));
        let relation = related(pattern, "ab");
        assert_eq!(relation.kind, Kind::Undecided(Reason::Bound(Bound::Size)));
    }
    for pattern in ["(a{1,1000}){1,100}", "a{60000}b", "(?:a{1000}){0}b"] {
        assert_eq!(too_large(&ast(pattern)), None, "{pattern}");
        assert!(!matches!(related(pattern, "xy").kind, Kind::Undecided(_)), "{pattern}");
    }
}

/// What one question may cost depends on how many patterns there are, and on nothing else.
#[test]
fn a_budget_is_shared_evenly() {
    assert_eq!(Budget::among(0), Budget::default());
    assert_eq!(Budget::among(1), Budget::default());
    let states = |patterns| Budget::among(patterns).states;
    assert!(states(100) >= 100_000 && states(1_000) < states(100));
    assert_eq!(states(1_000_000), states(10_000_000));
    // A pattern that is too large for its share is one that a bound of the run keeps out.
    let large = ast("(?:ab?){1,3000}c");
    let compiled = Compiled::new(&large, Budget::among(1_000_000));
    let bound = Reason::Bound(Bound::Total);
    assert_eq!(compiled.claims_nothing(), Answer::Undecided(bound.clone()));
    assert_eq!(compiled.claims_everything(), Answer::Undecided(bound));
    assert!(matches!(Compiled::new(&large, Budget::default()).claims_nothing(), Answer::No(_)));
}

#[test]
fn budgets_count_states() {
    let (a, b) = (ast("(a|b)*a(a|b){9}$"), ast("(a|b)*[a]b?(a|b){9}$"));
    let small = relation(&a, &b, Budget { states: 50 });
    assert_eq!(small.kind, Kind::Undecided(Reason::Bound(Bound::States)));
    assert!(!matches!(relation(&a, &b, Budget::default()).kind, Kind::Undecided(_)));
}
