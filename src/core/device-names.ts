/** Names are tags of streams, levels of topics and parts of addresses. */
export const deviceNameLengthMax = 128

// oxlint-disable-next-line no-control-regex
const unfit = /[\u0000-\u001f\u007f-\u009f\ud800-\udfff]/u

/** What is wrong with a text as the name of a device, if anything is. */
export function deviceNameProblem(name: unknown): string | undefined {
  if (typeof name === 'string' && name.length <= deviceNameLengthMax) {
    if (name.trim() !== '' && !unfit.test(name)) return undefined
  }
  return `must name a device: a text of 1 to ${deviceNameLengthMax} characters without control characters`
}
