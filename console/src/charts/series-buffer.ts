/**
 * The newest points of one line, in the order of time, in memory that is never allocated again. Points are
 * appended; one that is late is put where it belongs.
 */
export class SeriesBuffer {
  readonly #max: number
  readonly #times: Float64Array
  readonly #values: Float64Array
  /** What is kept lies in [start, end): when the end of the memory is reached, it moves to the beginning. */
  #start = 0
  #end = 0

  constructor(max: number) {
    this.#max = max
    this.#times = new Float64Array(2 * max)
    this.#values = new Float64Array(2 * max)
  }

  get size(): number {
    return this.#end - this.#start
  }

  /** Views that hold until the next `push`. */
  get times(): Float64Array {
    return this.#times.subarray(this.#start, this.#end)
  }

  get values(): Float64Array {
    return this.#values.subarray(this.#start, this.#end)
  }

  push(time: number, value: number): void {
    const isFull = this.size === this.#max
    if (isFull && time < (this.#times[this.#start] ?? 0)) return
    if (isFull) this.#start += 1
    if (this.#end === this.#times.length) this.#moveToBeginning()
    const at = this.#placeOf(time)
    if (at < this.#end) {
      this.#times.copyWithin(at + 1, at, this.#end)
      this.#values.copyWithin(at + 1, at, this.#end)
    }
    this.#times[at] = time
    this.#values[at] = value
    this.#end += 1
  }

  /** Forgets all points. */
  clear(): void {
    this.#start = 0
    this.#end = 0
  }

  #moveToBeginning(): void {
    this.#times.copyWithin(0, this.#start, this.#end)
    this.#values.copyWithin(0, this.#start, this.#end)
    this.#end -= this.#start
    this.#start = 0
  }

  /** Behind all points that are not later. Nearly all come in order, so it is looked for from the end. */
  #placeOf(time: number): number {
    let at = this.#end
    while (at > this.#start && (this.#times[at - 1] ?? 0) > time) at -= 1
    return at
  }
}
