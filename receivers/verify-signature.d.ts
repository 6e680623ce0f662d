/** A delivery, as it came. */
export interface SignedDelivery {
  /** The body exactly as it came over the wire: parsed and written again it has another signature. */
  readonly body: string | Uint8Array
  /** Names in any case, as the servers of Node give them, or the Fetch API. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
}

/**
 * Whether a delivery was signed with one of the secrets: with the one that there is, or, while it is
 * being replaced, with the old or the new one.
 */
export declare function verifySignature(
  delivery: SignedDelivery,
  ...secrets: readonly string[]
): boolean
