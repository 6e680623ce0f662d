import { createTransport } from 'nodemailer'
import { encodeWord } from 'nodemailer/lib/mime-funcs'
import type { SmtpServer } from '../../config/mail.ts'
import { cutText } from '../../core/cut-text.ts'
import { attemptMsMax } from '../delivery/attempt.ts'
import type { Outcome } from '../delivery/delivery.ts'
import type { RenderedMail } from './rendered-mail.ts'

/** Connections to the mail server at a time: what they can do is what many users share. */
export const smtpConnectionsMax = 8

/** Servers end what is idle after some minutes: we do so first, and not in the middle of a mail. */
const idleMs = 30_000

/**
 * Characters of an encoded word, so that it fits into a line with the name of the header (RFC 2047,
 * section 2).
 */
const encodedWordLengthMax = 52

/** Longer answers of a server are cut. */
const replyLengthMax = 500

/** What became of a mail. */
export interface SentMail {
  readonly outcome: Outcome
  /** Code of the answer; none when there was no answer. */
  readonly statusCode: number | undefined
  /**
   * Message for the owner of the address: what the server has said of the address or the mail. It
   * has no details of anything else that goes wrong with the server, because they are about who
   * runs the service.
   */
  readonly message: string
  /** What has gone wrong with the server, for who runs the service. */
  readonly trouble?: unknown
}

/** Hands mails to a server, over connections that stay open for a while. */
export class SmtpTransport {
  readonly #transport
  readonly #from: string

  constructor({ host, port, isSecure, startTls, login }: SmtpServer, from: string) {
    this.#from = from
    this.#transport = createTransport({
      pool: true,
      host,
      port,
      secure: isSecure,
      requireTLS: startTls === 'required',
      ignoreTLS: startTls === 'never',
      // What could as well go in plain text is not held back by a bad certificate (RFC 7435).
      tls: { rejectUnauthorized: isSecure || startTls === 'required' },
      ...(login && { auth: { user: login.user, pass: login.password } }),
      maxConnections: smtpConnectionsMax,
      // Every attempt is ours, and is written down: none is made behind our back.
      maxRequeues: 0,
      idleTimeout: idleMs,
      connectionTimeout: attemptMsMax,
      greetingTimeout: attemptMsMax,
      socketTimeout: attemptMsMax,
      dnsTimeout: attemptMsMax,
      disableFileAccess: true,
      disableUrlAccess: true,
    })
  }

  /** One mail, in an envelope for one address. Never throws: whatever happens is what became of it. */
  async send(mail: RenderedMail, signal: AbortSignal): Promise<SentMail> {
    const { to, subject, text, html, id, unsubscribe } = mail
    try {
      const { response } = await this.#transport.sendMail({
        envelope: { from: this.#from, to: [to] },
        from: { name: 'Streamvault', address: this.#from },
        to: { name: '', address: to },
        text,
        html,
        messageId: `<${id}@${this.#from.slice(this.#from.lastIndexOf('@') + 1)}>`,
        headers: {
          Subject: subjectHeader(subject),
          'List-Unsubscribe': { prepared: true, value: `<${unsubscribe}>` },
          'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
          // Automatic answers are not wanted (RFC 3834).
          'Auto-Submitted': 'auto-generated',
        },
        signal,
      })
      return { outcome: 'delivered', statusCode: 250, message: shownReply(response, to) }
    } catch (error) {
      return failed(error as SmtpError, to)
    }
  }

  close(): void {
    this.#transport.close({ force: true })
  }
}

/**
 * A name that looks like an encoded word (RFC 2047) would be decoded by who reads the mail, line breaks and all: it
 * is encoded once more. Everything else is left to the library.
 */
function subjectHeader(subject: string) {
  if (!subject.includes('=?')) return subject
  const value = encodeWord(subject, 'B', encodedWordLengthMax)
  return { prepared: true, foldLines: true, value }
}

/** What the library says of a failure. */
interface SmtpError {
  readonly code?: string
  readonly command?: string
  readonly response?: string
  readonly responseCode?: number
  readonly permanent?: boolean
  readonly message: string
}

function failed(error: SmtpError, to: string): SentMail {
  const { command = '', response, responseCode: statusCode, permanent = false } = error
  if (statusCode !== undefined && response !== undefined && isAboutMail(error)) {
    const message = shownReply(response, to)
    return { outcome: permanent ? 'stop' : 'retry', statusCode, message }
  }
  const message =
    statusCode === undefined
      ? 'no mail server took it: no connection, or no answer in time'
      : `the mail server answered ${statusCode} to ${command.split(' ')[0]}: not about this address`
  return { outcome: 'retry', statusCode, message, trouble: error }
}

/** What is said before is about us: who we are, or from whom the mail is. No address is to blame for that. */
function isAboutMail({ code, command }: SmtpError): boolean {
  return code === 'EMESSAGE' || (code === 'EENVELOPE' && command === 'RCPT TO')
}

/** Reply without the address: records outlive it. */
function shownReply(response: string, to: string): string {
  const [line = ''] = response.replaceAll(/[\p{Cc}]+/gu, ' ').match(/^.{0,500}/u) ?? []
  return cutText(line, replyLengthMax).replaceAll(new RegExp(RegExp.escape(to), 'gi'), '[address]')
}
