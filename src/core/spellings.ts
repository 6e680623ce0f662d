/**
 * The ways in which a secret may be written: as it is, in a URL, in JSON, in XML, in SQL,
 * in base64 and in hex. The longest first, as one
 * may be part of another.
 */
export function spellingsOf(secret: string): readonly string[] {
  const spelled = new Set([
    secret,
    encodeURIComponent(secret.toWellFormed()),
    encodeURIComponent(secret.toWellFormed()).replace(/[!'()*]/g, encodedSign),
    new URLSearchParams({ '': secret }).toString().slice(1),
    JSON.stringify(secret).slice(1, -1),
    secret.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`),
    secret.replaceAll("'", "''"),
    secret.replaceAll("'", "''").replaceAll('\\', '\\\\'),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('base64'),
  ])
  return [...spelled].filter((one) => one !== '').toSorted((a, b) => b.length - a.length)
}

/** Signs that some leave as they are in a URL, and others do not. */
function encodedSign(sign: string): string {
  return `%${sign.charCodeAt(0).toString(16).toUpperCase()}`
}
