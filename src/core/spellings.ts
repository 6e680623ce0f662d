/**
 * The ways in which a secret may be written: as it is, in a URL, in JSON, and in base64. The longest first, as one
 * may be part of another.
 */
export function spellingsOf(secret: string): readonly string[] {
  const spelled = new Set([
    secret,
    encodeURIComponent(secret.toWellFormed()),
    new URLSearchParams({ '': secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString('base64'),
  ])
  return [...spelled].filter((one) => one !== '').toSorted((a, b) => b.length - a.length)
}
