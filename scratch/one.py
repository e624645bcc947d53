import os, sys, time
from dataclasses import replace
name, seed, limit, variant = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), sys.argv[4]
for part in variant.split(","):
    if "=" in part:
        key, value = part.split("="); os.environ["W_" + key] = value
from warptsp.generate import dimacs
from warptsp import prove
import warptsp.io
from warptsp.proof import linear_program as lp, node_solver, branch_and_cut
from warptsp.proof.node_program import objective_of
shared = os.environ.get("WARPTSP_SHARED", "/work/shared")
if name.startswith("E"):
    problem = dimacs(name)
elif name.startswith(("chip", "board", "defects")):
    sys.path.insert(0, "benchmarks")
    from pathlib import Path
    from common import load
    problem = load(Path(shared), name)
else:
    problem = warptsp.io.load(f"{shared}/data/tsplib/{name}.tsp")
begin = time.process_time()
trace, state = [], {}
old = node_solver.NodeSolver.cut_at_root
def cut(self, effort):
    t, r, s = time.process_time(), self.rounds, list(lp.SPENT)
    done = old(self, effort)
    trace.append(f"{str(effort).split('.')[-1][:5].lower()}:{100*(1-self.bound/self.length):.4f}%,{time.process_time()-t:.1f}s(lp{lp.SPENT[0]-s[0]:.1f}/sep{lp.SPENT[1]-s[1]:.1f}),r{self.rounds-r}")
    return done
node_solver.NodeSolver.cut_at_root = cut
init = branch_and_cut.BranchAndCut.__init__
def made(self, *a, **k):
    init(self, *a, **k); state["s"] = self
branch_and_cut.BranchAndCut.__init__ = made
first = time.process_time()
proof = prove(replace(problem, name=""), time_limit=limit, seed=seed, threads=1)
all_s = time.process_time() - begin
s = state["s"]
print(f"{name:8} {seed} {variant:28} {all_s:7.2f}s search {proof.search_seconds:5.2f} nodes {proof.nodes:3} rounds {s.rounds:4} steps {sum(x.program.iterations for x in s._solvers):6} "
      f"root {getattr(s,'root_seconds',0)-begin:6.2f}s {100*(1-proof.root_bound/proof.length):.4f}% dive {getattr(s,'dive_seconds',0):5.2f} lp {lp.SPENT[0]:.1f} sep {lp.SPENT[1]:.1f} "
      f"{'proved' if proof.proved else 'OPEN %s' % proof.lower_bound} {proof.length} | {' '.join(trace)}", flush=True)
