/** The server that mail is handed to. */
export interface SmtpServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte on. */
  readonly isSecure: boolean
  /**
   * TLS after a greeting in plain text. `offered`: taken when the server has it, whoever it is; `required`: nothing
   * is sent without it, nor to who has no good certificate; `never`: not even when the server has it.
   */
  readonly startTls: 'offered' | 'required' | 'never'
  readonly login: { readonly user: string; readonly password: string } | undefined
}

/** Settings of mail. */
export interface MailConfig {
  /** Undefined: there is none, and what would be mailed is written down as skipped. */
  readonly smtp: SmtpServer | undefined
  /** The address that mail comes from. */
  readonly mailFrom: string
}

interface Reading {
  readonly value: (name: string) => string | undefined
  readonly problems: string[]
}

export function readMailConfig({ value, problems }: Reading): MailConfig {
  const url = value('STREAMVAULT_SMTP_URL')
  const smtp = url === undefined ? undefined : parseSmtpUrl(url)
  if (url !== undefined && smtp === undefined) {
    // Not shown: it may have a password, wherever that was put.
    problems.push(`STREAMVAULT_SMTP_URL must be ${smtpUrlForms}`)
  }
  const from = value('STREAMVAULT_MAIL_FROM')
  if (from !== undefined && !addressPattern.test(from)) {
    problems.push(
      `STREAMVAULT_MAIL_FROM must be an address such as iot@plant.example, not '${from}'`,
    )
  }
  return { smtp, mailFrom: from ?? defaultFrom(value('STREAMVAULT_PUBLIC_URL')) }
}

const addressPattern = /^[\w!#$%&'*+/=?^`{|}~.-]{1,64}@[a-z0-9](?:[a-z0-9.-]{0,252}[a-z0-9])?$/i

const smtpUrlForms =
  'smtp://host:port or smtps://host:port, with user:password@ before the host where it asks for them, and ?starttls=required or ?starttls=never after it'

const startTlsModes = ['offered', 'required', 'never'] as const

/** Ports of RFC 8314 and RFC 6409. */
const defaultPorts: Readonly<Record<string, number>> = { 'smtp:': 587, 'smtps:': 465 }

/** Undefined when it is none. */
export function parseSmtpUrl(text: string): SmtpServer | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  const defaultPort = defaultPorts[url.protocol]
  const mode = url.searchParams.get('starttls')
  const startTls = startTlsModes.find((one) => one === mode)
  const isPlain = ['', '/'].includes(url.pathname) && url.hash === ''
  const hasOthers = [...url.searchParams.keys()].some((name) => name !== 'starttls')
  if (defaultPort === undefined || url.hostname === '' || !isPlain || hasOthers) return undefined
  if (mode !== null && startTls === undefined) return undefined
  const login = loginOf(url)
  if (login === 'malformed') return undefined
  const host = url.hostname.replace(/^\[|\]$/g, '')
  // Somebody who could take STARTTLS out of an answer on the way would be sent the password.
  const mayBeOverheard = login !== undefined && !isLoopback(host)
  return {
    host,
    port: url.port === '' ? defaultPort : Number(url.port),
    isSecure: url.protocol === 'smtps:',
    startTls: startTls ?? (mayBeOverheard ? 'required' : 'offered'),
    login,
  }
}

function loginOf({ username, password }: URL): SmtpServer['login'] | 'malformed' {
  if (username === '' && password === '') return undefined
  try {
    return { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  } catch {
    return 'malformed'
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/** At the name of the service: an address takes no bare IP address. */
function defaultFrom(publicUrl = ''): string {
  const hostname = URL.canParse(publicUrl) ? new URL(publicUrl).hostname : ''
  return `streamvault@${/^$|^\[|^[\d.]+$/.test(hostname) ? 'localhost' : hostname}`
}
