import sys, json, time, os
sys.path.insert(0, "."); sys.path.insert(0, "benchmarks")
import core, pgt, jax, torch_pgt
print(jax.__version__, jax.devices())
def show(tag, f):
    t=time.time()
    try:
        r=f(); s={k:r[k] for k in ("milliseconds","first_step_seconds","seconds","steps","residual","train_seconds","peak_bytes") if k in r}
        if "snapshot" in r: s["snap"]=r["snapshot"]["overall"]; s["fields"]=r["snapshot"]["relative_l2"]; s["vol"]=r["volume"]["overall"]["stacked"]
        print(tag, json.dumps(s), flush=True)
    except Exception as e:
        import traceback; traceback.print_exc(); print(tag,"FAILED",repr(e)[:300],flush=True)
for tag in sys.argv[1].split(";"):
    show(tag, lambda: eval(tag))
