/** Resolves when the signal is aborted. Whoever asks often for a signal that lives long asks once, and keeps the answer. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
