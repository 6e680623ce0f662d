/** Counts down what is left of the work that one evaluation may do. */
export class Meter {
  left = 0

  /** @throws Error when nothing is left */
  take(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw new Error('needs more work than one reading may take')
  }
}

/** Characters of a text, or bytes, that cost as much as one step. */
export const charactersPerStep = 8
