import type { StepClocks } from '../../src/core/clock.ts'

/** Clocks that stand until they are moved: as time that passes by `atUs`, or by a step of the wall clock alone. */
export class HandClock implements StepClocks {
  /** What the wall clock shows. To move it here lets time pass. */
  atUs = 1_700_000_000_123_456
  steps = 0
  #steppedUs = 0

  nowUs(): number {
    return this.atUs
  }

  steadyUs(): number {
    return this.atUs - this.#steppedUs
  }

  readonly monotonicMs = () => this.steadyUs() / 1_000

  /** Sets the wall clock forward or back: no time passes. */
  step(byUs: number): void {
    this.atUs += byUs
    this.#steppedUs += byUs
    this.steps++
  }
}
