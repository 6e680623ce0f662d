import { type EmailRecipientId, parseId } from '../../core/ids.ts'

/** Signs with the master key. */
export interface Signer {
  digest(text: string): string
  matches(text: string, ...digests: readonly string[]): boolean
}

/** How long a link can be used that says yes. */
const verificationLifetimeUs = 3 * 86_400_000_000

/** A link that says yes, as it was opened. */
export interface VerificationClaim {
  readonly recipientId: EmailRecipientId
  readonly expiresAtUs: number
}

/**
 * Links in mails. They are followed without credentials: that they lead to something is proven by a
 * signature over what they are for, and nothing else can be done with them.
 */
export class MailLinks {
  readonly #signer: Signer
  readonly #publicUrl: string

  constructor(signer: Signer, publicUrl: string) {
    this.#signer = signer
    this.#publicUrl = publicUrl
  }

  /** Host of the links. */
  get host(): string {
    return new URL(this.#publicUrl).host
  }

  /** A path under the address of the service. */
  to(path: string): string {
    return `${this.#publicUrl}${path}`
  }

  /** The link that confirms an address: one for every mail of a delivery, however often it is attempted. */
  verification(recipientId: string, sentAtUs: number): string {
    const claim = `${recipientId}.${sentAtUs + verificationLifetimeUs}`
    return this.to(`/mail/verify/${claim}.${this.#signer.digest(`mail: verify ${claim}`)}`)
  }

  /** Never expires: mails are kept for years. */
  unsubscribing(recipientId: string): string {
    const signature = this.#signer.digest(`mail: unsubscribe ${recipientId}`)
    return this.to(`/mail/unsubscribe/${recipientId}.${signature}`)
  }

  /** What a link says that was followed; undefined when it is not one of ours. */
  verified(token: string): VerificationClaim | undefined {
    const [id = '', expiresAt = '', signature = '', ...rest] = token.split('.')
    const recipientId = parseId<EmailRecipientId>(id)
    if (!recipientId || !/^\d{1,16}$/.test(expiresAt) || rest.length > 0) return undefined
    const claim = `${recipientId}.${expiresAt}`
    if (!this.#isSigned(`mail: verify ${claim}`, signature)) return undefined
    return { recipientId, expiresAtUs: Number(expiresAt) }
  }

  unsubscribed(token: string): EmailRecipientId | undefined {
    const [id = '', signature = '', ...rest] = token.split('.')
    const recipientId = parseId<EmailRecipientId>(id)
    if (!recipientId || rest.length > 0) return undefined
    const isSigned = this.#isSigned(`mail: unsubscribe ${recipientId}`, signature)
    return isSigned ? recipientId : undefined
  }

  #isSigned(claim: string, signature: string): boolean {
    return /^[0-9a-f]{64}$/.test(signature) && this.#signer.matches(claim, signature)
  }
}
