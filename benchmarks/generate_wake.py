"""2D incompressible Navier-Stokes DNS of the flow past a circular cylinder.

Domain [-15,25]x[-8,8], cylinder D=1 at the origin, U=1, nu=1/Re.
  inflow   x=-15 : u=(1,0)
  outflow  x= 25 : do-nothing  (nu du/dn - p n = 0)
  y=-8, y=8      : periodic
Space: Taylor-Hood P_k/P_{k-1} on curved triangles, small grad-div term.
Time : SBDF3 (BDF3, convection extrapolated with third order), the
       Stokes matrix is factored once.

It made the packaged wake (order 6, dt = 0.005) and needs NGSolve, which nothing else
here does. One run settles into periodic shedding and keeps its state, a second starts
from it and samples; how long the first has to be, the printed forces tell:

    python generate_wake.py --order 4 --time 150 --state settled.pkl
    python generate_wake.py --order 6 --start settled.pkl --time 20 --wake wake.npz

The arrays of wake.npz are those of the packaged NetCDF file, in double precision. How
well they solve their equation is asked of `pgt.datasets.audit`. `--near` keeps a window
that holds the cylinder itself, and drag and lift at every snapshot, integrated on its
wall; started from a state of the same order, their first instant is true as well. It is
what benchmarks/cylinder.py fits. A state is a pickle: load only your own.
"""

import argparse
import os
import pickle
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")
import ngsolve as ng
import numpy as np
from wake_mesh import make_mesh

ng.SetNumThreads(1)
ng.ngsglobals.msg_level = 0


# ---------------------------------------------------------------- solver ----
class CylinderFlow:
    BDF = (11 / 6, -3.0, 1.5, -1 / 3)  # (a0 u+ + a1 u0 + a2 u-1 + a3 u-2)/dt
    EXT = (3.0, -3.0, 1.0)  # extrapolation of the convection
    GRADDIV, REG = 0.1, 1e-9

    def __init__(self, mesh, order, re, dt):
        self.mesh, self.order, self.re, self.dt = mesh, order, re, dt
        self.nu = nu = 1.0 / re
        V = ng.Periodic(ng.VectorH1(mesh, order=order, dirichlet="inlet|cyl"))
        Q = ng.Periodic(ng.H1(mesh, order=order - 1))
        self.V, self.Q, self.X = V, Q, V * Q
        (u, p), (v, q) = self.X.TnT()
        dx = ng.dx
        k = ng.BilinearForm(self.X, symmetric=True)
        k += (
            self.BDF[0] / dt * u * v
            + nu * ng.InnerProduct(ng.Grad(u), ng.Grad(v))
            + self.GRADDIV * ng.div(u) * ng.div(v)
            - ng.div(u) * q
            - ng.div(v) * p
            - self.REG * p * q
        ) * dx
        k.Assemble()
        self.K = k.mat
        self.inv = self.K.Inverse(self.X.FreeDofs(), inverse="sparsecholesky")
        uu, vv = V.TnT()
        m = ng.BilinearForm(V, symmetric=True)
        m += uu * vv * dx
        m.Assemble()
        self.M = m.mat
        self.gf = ng.GridFunction(self.X)
        self.u, self.p = self.gf.components
        self.gconv = ng.GridFunction(V)
        self.conv = ng.LinearForm(V)
        self.conv += ng.InnerProduct(ng.Grad(self.gconv) * self.gconv, vv) * dx(
            bonus_intorder=order
        )
        self.nv = V.ndof
        self.hist = [
            self.gf.vec.CreateVector()[0 : self.nv].CreateVector() for _ in range(3)
        ]  # u^n, u^{n-1}, u^{n-2}
        self.nhist = [h.CreateVector() for h in self.hist]
        self.rhs = self.gf.vec.CreateVector()
        self.res = self.gf.vec.CreateVector()
        self.tmp = self.hist[0].CreateVector()
        self.tmp2 = self.hist[0].CreateVector()
        self.ex, self.ey = ng.GridFunction(self.X), ng.GridFunction(self.X)
        cyl = mesh.Boundaries("cyl")
        self.ex.components[0].Set(ng.CF((1, 0)), definedon=cyl)
        self.ey.components[0].Set(ng.CF((0, 1)), definedon=cyl)
        self.t = 0.0

    # -- states ---------------------------------------------------------
    def initial(self):
        """Uniform flow with a no-slip layer and an asymmetric disturbance."""
        x, y = ng.x, ng.y
        r = ng.sqrt(x * x + y * y)
        s = 1 - ng.exp(-((r - 0.5) / 0.3))
        d = ng.exp(-((x - 1.5) ** 2 + (y - 0.3) ** 2))
        self.set_history([ng.CF((s, 0.8 * d * s))] * 3)

    def set_history(self, cfs):
        """cfs: velocity fields at t, t-dt, t-2dt (any coefficient functions)."""
        walls = self.mesh.Boundaries("inlet|cyl")
        self.u.Set(
            self.mesh.BoundaryCF({"inlet": ng.CF((1, 0))}, default=ng.CF((0, 0))), definedon=walls
        )
        fixed = ~np.array(self.V.FreeDofs(), dtype=bool)
        u = self.u.vec.FV().NumPy()
        bc = u[fixed].copy()
        for i in (2, 1, 0):
            self.u.Set(cfs[i])
            u[fixed] = bc
            self.hist[i].data = self.u.vec
            self.nhist[i].data = self.convection(self.u.vec)

    def state(self):
        return dict(
            order=self.order,
            dt=self.dt,
            t=self.t,
            re=self.re,
            hist=[h.FV().NumPy().copy() for h in self.hist],
            p=self.p.vec.FV().NumPy().copy(),
        )

    def load(self, st):
        """Start from a saved state, of another order and/or larger dt."""
        V0 = ng.Periodic(ng.VectorH1(self.mesh, order=st["order"], dirichlet="inlet|cyl"))
        h, fields = st["hist"], []
        for j in range(3):  # quadratic interpolation in t
            s = j * self.dt / st["dt"]
            w = ((s - 1) * (s - 2) / 2, -s * (s - 2), s * (s - 1) / 2)
            g = ng.GridFunction(V0)
            g.vec.FV().NumPy()[:] = sum(a * b for a, b in zip(w, h))
            fields.append(g)
        self.set_history(fields)
        self.t = st["t"]
        if st["order"] == self.order:
            self.p.vec.FV().NumPy()[:] = st["p"]

    # -- time stepping --------------------------------------------------
    def convection(self, vec):
        self.gconv.vec.data = vec
        self.conv.Assemble()
        return self.conv.vec

    def step(self, forces=False):
        a, e, nv = self.BDF, self.EXT, self.nv
        h, n = self.hist, self.nhist
        self.tmp.data = (-1 / self.dt) * (a[1] * h[0] + a[2] * h[1] + a[3] * h[2])
        self.tmp2.data = self.M * self.tmp
        self.tmp2.data -= e[0] * n[0] + e[1] * n[1] + e[2] * n[2]
        self.rhs[:] = 0.0
        self.rhs[0:nv] = self.tmp2
        self.res.data = self.rhs - self.K * self.gf.vec
        self.gf.vec.data += self.inv * self.res
        self.t += self.dt
        h[2], h[1], h[0] = h[1], h[0], h[2]
        n[2], n[1], n[0] = n[1], n[0], n[2]
        h[0].data = self.u.vec
        n[0].data = self.convection(self.u.vec)
        if forces:
            self.res.data = self.rhs - self.K * self.gf.vec
            return (
                2 * ng.InnerProduct(self.res, self.ex.vec),
                2 * ng.InnerProduct(self.res, self.ey.vec),
            )
        return None


# -------------------------------------------------------------- sampling ----
class Sampler:
    """Evaluates u, v, p on a tensor grid; NaN inside the cylinder."""

    def __init__(self, mesh, x, y):
        self.x, self.y = x, y
        gx, gy = np.meshgrid(x, y)
        self.shape = gx.shape
        self.ok = (gx**2 + gy**2 >= 0.25).ravel()
        self.pts = mesh(gx.ravel()[self.ok], gy.ravel()[self.ok])
        assert (self.pts["nr"] >= 0).all()

    def _grid(self, vals):
        out = np.full(self.shape[0] * self.shape[1], np.nan)
        out[self.ok] = vals
        return out.reshape(self.shape)

    def __call__(self, flow):
        vel = np.asarray(flow.u(self.pts))
        prs = np.asarray(flow.p(self.pts)).reshape(-1)
        return self._grid(vel[:, 0]), self._grid(vel[:, 1]), self._grid(prs), wall_force(flow)


def wall_force(flow):
    """Drag and lift, integrals of the traction over the wall of the cylinder."""
    n = ng.CF((-ng.x, -ng.y)) / ng.sqrt(ng.x**2 + ng.y**2)  # out of the fluid
    slopes, p = ng.BoundaryFromVolumeCF(ng.Grad(flow.u)), ng.BoundaryFromVolumeCF(flow.p)
    traction = p * n - flow.nu * (slopes + slopes.trans) * n
    wall = flow.mesh.Boundaries("cyl")
    return np.array(ng.Integrate(traction, flow.mesh, ng.BND, definedon=wall, order=2 * flow.order))


def log(msg):
    print(time.strftime("%H:%M:%S ") + msg, flush=True)


def shedding(t, cd, cl):
    """Strouhal number from upward zero crossings of cl, Cd mean, amplitudes."""
    c = cl - 0.5 * (cl.max() + cl.min())
    i = np.where((c[:-1] < 0) & (c[1:] >= 0))[0]
    if len(i) < 2:
        return {}
    z = t[i] - c[i] * (t[i + 1] - t[i]) / (c[i + 1] - c[i])
    sel = (t >= z[0]) & (t <= z[-1])
    return dict(
        St=(len(z) - 1) / (z[-1] - z[0]),
        Cd_mean=cd[sel].mean(),
        Cd_amp=(cd[sel].max() - cd[sel].min()) / 2,
        Cl_amp=(cl[sel].max() - cl[sel].min()) / 2,
        Cl_mean=cl[sel].mean(),
    )


def advance(flow, duration, samplers=(), dts=0.1, force_every=0.05):
    """Integrate; returns force history and sampled snapshots.

    Each sampler is (Sampler, count): snapshots at 0, dts, 2 dts, ...
    """
    nf, ns = round(force_every / flow.dt), round(dts / flow.dt)
    nsteps = round(duration / flow.dt)
    hist, snaps = [], [[] for _ in samplers]
    t_last, t0 = time.time(), flow.t

    def take():
        for (sampler, count), store in zip(samplers, snaps):
            if len(store) < count:
                store.append(sampler(flow))

    take()
    for k in range(1, nsteps + 1):
        f = flow.step(forces=k % nf == 0)
        if f is not None:
            hist.append((flow.t, *f))
            if not np.isfinite(f[0]) or abs(f[0]) > 50:
                raise RuntimeError("blow-up at t=%g" % flow.t)
        if k % ns == 0:
            take()
        if time.time() - t_last > 60:
            t_last = time.time()
            h = np.array(hist[-max(1, round(8 / force_every)) :])
            log(
                "Re=%g P%d dt=%g t=%.2f/%.2f Cd=%.4f Clmax=%.4f"
                % (
                    flow.re,
                    flow.order,
                    flow.dt,
                    flow.t,
                    t0 + duration,
                    h[-1, 1],
                    abs(h[:, 2]).max(),
                )
            )
    return np.array(hist), [[np.array(a) for a in zip(*s)] for s in snaps]


def save_state(flow, name):
    with open(name, "wb") as f:
        pickle.dump(flow.state(), f)


def load_state(name):
    with open(name, "rb") as f:
        return pickle.load(f)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--re", type=float, default=100)
    ap.add_argument("--order", type=int, default=4)
    ap.add_argument("--dt", type=float, default=0.005)
    ap.add_argument("--scale", type=float, default=1.0, help="mesh size factor")
    ap.add_argument("--start", help="state file to start from")
    ap.add_argument("--time", type=float, default=20.0, help="time to integrate")
    ap.add_argument("--state", help="state file to write at the end")
    ap.add_argument("--wake", help="npz: window [1,8]x[-2,2], 200 snapshots")
    ap.add_argument("--near", help="npz: window [-2,8]x[-2,2], 61 snapshots")
    ap.add_argument("--near-points", type=int, nargs=2, default=(200, 80), help="along x and y")
    ap.add_argument("--forces", help="npy: t, Cd, Cl")
    a = ap.parse_args()
    mesh = make_mesh(a.scale)
    flow = CylinderFlow(mesh, a.order, a.re, a.dt)
    log(
        "Re=%g P%d/P%d dt=%g elements=%d dofs=%d"
        % (a.re, a.order, a.order - 1, a.dt, mesh.ne, flow.X.ndof)
    )
    if a.start:
        flow.load(load_state(a.start))
    else:
        flow.initial()
    wake = (np.linspace(1, 8, 100), np.linspace(-2, 2, 50), 200, a.wake)
    columns, rows = a.near_points
    near = (np.linspace(-2, 8, columns), np.linspace(-2, 2, rows), 61, a.near)
    outs = [o for o in (wake, near) if o[3]]
    hist, snaps = advance(flow, a.time, [(Sampler(mesh, o[0], o[1]), o[2]) for o in outs])
    if a.state:
        save_state(flow, a.state)
    if a.forces:
        np.save(a.forces, hist)
    st = shedding(*hist[len(hist) // 2 :].T) if not outs else shedding(*hist.T)
    log("shedding: " + "  ".join("%s=%.6f" % kv for kv in st.items()))
    for (x, y, count, name), (u, v, p, force) in zip(outs, snaps):
        t, forces = 0.1 * np.arange(len(u)), dict(drag=force[:, 0], lift=force[:, 1])
        np.savez(name, x=x, y=y, t=t, u=u, v=v, p=p, Re=a.re, **forces, **st)
        log("wrote %s %s" % (name, u.shape))


if __name__ == "__main__":
    main()
