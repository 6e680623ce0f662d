/** A uuid, or the id of a key. */
const idPattern = /^[\w-]{1,64}$/

/**
 * Where a page of a list ended. Lists go by creation and then id: rows that come later do not move
 * what a cursor stands behind.
 */
export interface ListCursor {
  readonly createdAtUs: number
  readonly id: string
}

export function encodeCursor({ createdAtUs, id }: ListCursor): string {
  return Buffer.from(`${createdAtUs} ${id}`).toString('base64url')
}

/** Undefined for a text that `encodeCursor` has not made. */
export function decodeCursor(text: string): ListCursor | undefined {
  const [time = '', id = ''] = Buffer.from(text, 'base64url').toString().split(' ')
  if (!/^\d{1,16}$/.test(time) || !idPattern.test(id)) return undefined
  const cursor = { createdAtUs: Number(time), id }
  // One spelling only: Buffer skips what is not base64.
  return encodeCursor(cursor) === text ? cursor : undefined
}
