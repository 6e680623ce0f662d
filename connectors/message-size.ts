/** Bytes of the largest message that is taken from somebody else's server. */
export const messageBytesMax = 4 * 1024 * 1024

/** Bytes that are kept of a larger message, for a person to look at. */
export const shownBytes = 64 * 1024

/** Why a message goes to the quarantine of which only the beginning is there. */
export function tooLarge(bytes: number, what = 'message'): string {
  const [found, most] = [bytes, messageBytesMax].map((count) => count.toLocaleString('en'))
  return `the ${what} has ${found} bytes, and ${most} are taken: only its beginning is kept`
}
