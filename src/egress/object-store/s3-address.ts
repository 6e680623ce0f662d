import { invalidParameter } from '../../core/errors.ts'

/** A prefix of an S3-compatible object store. */
export interface S3Address {
  readonly kind: 's3'
  readonly bucket: string
  /** Empty, or ends with a slash. */
  readonly prefix: string
  /** Undefined: AWS itself. */
  readonly endpoint: string | undefined
  readonly region: string | undefined
}

/**
 * Reads `s3://bucket/prefix?endpoint=http://host:port&region=name`. Credentials come from the
 * environment and never stand here, where everybody who is shown the address would see them.
 *
 * @param path of the parameter, for messages: of the address they show a parameter's name at most
 * @throws DomainError `invalid_request`
 */
export function parseS3Address(text: string, path: string): S3Address {
  if (!text.startsWith('s3://') || !URL.canParse(text)) {
    throw invalidParameter(path, 'is not a URL such as s3://bucket/prefix')
  }
  const { hostname, port, username, password, pathname, searchParams, hash } = new URL(text)
  if (username + password !== '') {
    throw invalidParameter(path, 'must not contain credentials: they come from the environment')
  }
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(hostname) || port + hash !== '') {
    throw invalidParameter(path, 'names no bucket: s3://bucket/prefix')
  }
  const unknown = [...searchParams.keys()].find((name) => !['endpoint', 'region'].includes(name))
  if (unknown !== undefined) throw invalidParameter(path, `has an unknown parameter ${unknown}`)
  const prefix = decoded(pathname, path).replace(/^\/+|\/+$/g, '')
  return {
    kind: 's3',
    bucket: hostname,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint: endpointOf(searchParams.get('endpoint'), path),
    region: searchParams.get('region') ?? undefined,
  }
}

function decoded(pathname: string, path: string): string {
  try {
    return decodeURIComponent(pathname)
  } catch {
    throw invalidParameter(path, 'has a percent sign that begins no character')
  }
}

function endpointOf(text: string | null, path: string): string | undefined {
  if (text === null) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isPlain = url && url.username + url.password + url.search + url.hash === ''
  if (isPlain && /^https?:$/.test(url.protocol) && url.pathname === '/') return url.origin
  throw invalidParameter(path, 'has an endpoint that is not such as https://host:port')
}
