// The paper's learner, equations (1) to (4), and its contribution weights, for any σ².
//
// The server sends the projections of all nodes on unit frequencies; 1/σ scales them. The sums are
// the same as in the library, in double precision.
import { unpack } from "./basics.js";

export class Learner {
  constructor(split) {
    this.n = split.names.length;
    this.D = split.n_frequencies;
    this.projections = unpack(split.projections, "f8"); // [n, D]
    this.known = unpack(split.known, "u4");
    this.unknown = unpack(split.unknown, "u4");
    this.orders = unpack(split.orders, "u4");
    this.values = unpack(split.values, "f8");
    this.features = new Float64Array(this.n * 2 * this.D); // [n, 2D]
    this.theta = new Float64Array(2 * this.D);
    this.sigma2 = null;
  }

  // z = [sin ξᵀa, cos ξᵀa] / √D of every node.
  computeFeatures(sigma2) {
    if (sigma2 === this.sigma2) return;
    const { n, D, projections, features } = this;
    const scale = 1 / Math.sqrt(sigma2);
    const size = 1 / Math.sqrt(D);
    for (let i = 0; i < n; i++) {
      const from = i * D;
      const to = 2 * from;
      for (let k = 0; k < D; k++) {
        const angle = projections[from + k] * scale;
        features[to + k] = Math.sin(angle) * size;
        features[to + D + k] = Math.cos(angle) * size;
      }
    }
    this.sigma2 = sigma2;
  }

  multiply(i, vector) {
    const width = 2 * this.D;
    const from = i * width;
    const { features } = this;
    let sum = 0;
    for (let k = 0; k < width; k++) sum += features[from + k] * vector[k];
    return sum;
  }

  add(i, factor, vector) {
    const width = 2 * this.D;
    const from = i * width;
    const { features } = this;
    for (let k = 0; k < width; k++) vector[k] += factor * features[from + k];
  }

  listSteps(epochs) {
    return this.orders.subarray(0, epochs * this.known.length);
  }

  // θ ← θ + 2η (y − θᵀz) z over the known nodes, epoch by epoch; then predictions of the others.
  run(sigma2, eta, epochs) {
    this.computeFeatures(sigma2);
    this.eta = eta;
    this.steps = this.listSteps(epochs);
    this.theta.fill(0);
    for (const step of this.steps) {
      const i = this.known[step];
      this.add(i, 2 * eta * (this.values[i] - this.multiply(i, this.theta)), this.theta);
    }
    const predictions = Float64Array.from(this.unknown, (i) => this.multiply(i, this.theta));
    let errors = 0;
    let squares = 0;
    this.unknown.forEach((i, at) => {
      errors += (predictions[at] - this.values[i]) ** 2;
      squares += this.values[i] ** 2;
    });
    return { predictions, gnmse: errors / squares };
  }

  // B and F of every training step for one node, in the order of training.
  explain(node) {
    const width = 2 * this.D;
    const star = this.features.slice(node * width, (node + 1) * width);
    const B = Float64Array.from(this.steps, (step) => 2 * this.eta * this.multiply(this.known[step], star));
    const F = new Float64Array(this.steps.length);
    for (let t = this.steps.length - 1; t >= 0; t--) {
      const i = this.known[this.steps[t]];
      F[t] = 2 * this.eta * this.multiply(i, star);
      this.add(i, -F[t], star);
    }
    return { B, F };
  }
}
