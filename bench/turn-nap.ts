/**
 * Returns a function that makes the process sleep once at the end of the event-loop turn it was
 * called in, however often it was. Acknowledgements then pile up meanwhile and are read together:
 * one system call for many, where an eager reader would wake up for each of them.
 */
export function createTurnNap(milliseconds: number): () => void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  let isPlanned = false
  return () => {
    if (isPlanned) return
    isPlanned = true
    setImmediate(() => {
      isPlanned = false
      Atomics.wait(cell, 0, 0, milliseconds)
    })
  }
}
