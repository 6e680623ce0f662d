/**
 * The beginning of a text, for somebody to look at: at most so many UTF-16 code units, and no half of a
 * surrogate pair, which no decoder of JSON or UTF-8 has to take.
 */
export function cutText(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text
  const isInPair = /[\uD800-\uDBFF]/.test(text.charAt(lengthMax - 1))
  return text.slice(0, isInPair ? lengthMax - 1 : lengthMax)
}
