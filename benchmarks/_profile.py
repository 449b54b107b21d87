import sys, json, time, os, glob, gzip, collections
sys.path.insert(0, "."); sys.path.insert(0, "benchmarks")
import core, pgt, jax, jax.numpy as jnp, numpy as np
from pgt.physics import NavierStokes2D
from pgt.training.losses import Problem
from pgt.training.step import Clock, run_steps, start
def prof(readings, collocation, model):
    truth = pgt.datasets.cylinder_wake(); obs = pgt.sample(truth, readings, seed=0); pde = NavierStokes2D(0.01)
    training = pgt.Training(collocation=collocation, batch=1500)
    net = pgt.PGT(pgt.Scaling.fit(obs, core.WAKE), pde.kernel(), **model)
    prob = Problem.build(obs, pde, (), core.WAKE, net.scaling)
    t=time.time(); state, fixed = start(net, pde, prob, training, 0.0); empty = obs.take(np.zeros(0, int)); clock = Clock(jnp.asarray(0.1), jnp.asarray(0.0))
    def run(state, n):
        state, rep = run_steps(state, fixed, prob, empty, jax.random.key(0), clock, jnp.asarray(n), training); jax.block_until_ready(state); return state
    state = run(state, 1); print("first", round(time.time()-t,1))
    state=run(state,20); t=time.time(); state=run(state,50); print("ms", round((time.time()-t)*20,2), flush=True)
    d="/tmp/trace%d"%time.time_ns(); jax.profiler.start_trace(d, create_perfetto_trace=True); state=run(state,10); jax.profiler.stop_trace()
    f=glob.glob(d+"/**/*trace.json.gz", recursive=True)
    ev=json.load(gzip.open(f[0]))
    ev=ev["traceEvents"] if isinstance(ev,dict) else ev
    names={(e.get("pid"),e.get("tid")):e["args"].get("name","") for e in ev if e.get("name")=="thread_name"}
    procs={e.get("pid"):e["args"].get("name","") for e in ev if e.get("name")=="process_name"}
    c=collections.Counter(); n=collections.Counter()
    for e in ev:
        if e.get("ph")=="X" and "GPU" in procs.get(e["pid"],"") and "Stream" in names.get((e["pid"],e["tid"]),""):
            c[e["name"][:70]]+=e["dur"]; n[e["name"][:70]]+=1
    print("total ms/step", sum(c.values())/1e4, "kernels/step", sum(n.values())/10)
    for k,v in c.most_common(22): print("%8.3f ms %6.1f x %s"%(v/1e4, n[k]/10, k))
for a in sys.argv[1:]: prof(*eval(a))
