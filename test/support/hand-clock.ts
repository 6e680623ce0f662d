import type { Clock } from '../../src/core/clock.ts'

/** A clock that stands until it is moved. */
export class HandClock implements Clock {
  atUs = 1_700_000_000_123_456

  nowUs(): number {
    return this.atUs
  }
}
