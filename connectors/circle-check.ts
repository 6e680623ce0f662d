/**
 * Finds out whether a walk from place to place goes in a circle, without remembering all of them (R. P. Brent, An
 * improved Monte Carlo factorization algorithm, BIT 20, 1980): each place is compared to one that was passed, and
 * that is replaced after twice as many steps each time.
 */
export class CircleCheck {
  #passed: string | undefined
  #steps = 0
  #stepsMax = 1

  /** @returns whether the walk has been at the place before; it is found out within a few times around */
  isBack(place: string): boolean {
    if (place === this.#passed) return true
    if (++this.#steps < this.#stepsMax && this.#passed !== undefined) return false
    this.#passed = place
    this.#steps = 0
    this.#stepsMax *= 2
    return false
  }
}
