use reglint::overlap::*; use reglint::pattern::*; use std::time::Instant;
fn main(){
 let v: serde_json::Value = serde_json::from_slice(&std::fs::read("/work/shared/rulesets/gitleaks.json").unwrap()).unwrap();
 let ps: Vec<String> = v["hypotheses"].as_array().unwrap().iter().filter_map(|h| h["canonical_frame_regex"].as_str()).map(str::to_owned).collect();
 let asts: Vec<_> = ps.iter().filter_map(|p| parse(p, Versions::ALL).ok().map(|a|(p,a))).collect();
 let cs: Vec<_> = asts.iter().map(|(_,a)| Compiled::new(a, Budget::default())).collect();
 let mut ts = vec![];
 for b in 0..cs.len(){ for a in 0..b { if (a*7+b*13)%20!=0 {continue;} let t=Instant::now(); let r=relate(&cs[a],&cs[b]); let d=t.elapsed(); ts.push((d,a,b,r)); } }
 ts.sort_by_key(|t| std::cmp::Reverse(t.0));
 let total: std::time::Duration = ts.iter().map(|t|t.0).sum();
 println!("{} pairs {:?}", ts.len(), total);
 for n in ["Partial","None","Undec"] { let x: Vec<_> = ts.iter().filter(|t| format!("{:?}",t.3.kind).starts_with(n)).collect(); println!("{n} {} {:?}", x.len(), x.iter().map(|t|t.0).sum::<std::time::Duration>()); }
 for t in ts.iter().take(6).chain(ts.iter().skip(40).take(3)) { println!("{:?} {:?}\n  {}\n  {}", t.0, t.3.kind, asts[t.1].0, asts[t.2].0); if let Some(w)=&t.3.witness { println!("   {:?}", w); } }
}
