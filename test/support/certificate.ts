import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A certificate that nobody but itself has signed. */
export interface TestCertificate {
  readonly certPath: string
  readonly keyPath: string
  /** What a client has to trust: PEM. */
  readonly authority: string
}

/**
 * Makes a certificate with its key in a folder; a second call with the same name replaces both.
 * `subject` is whom it is good for.
 */
export function makeCertificate(
  folder: string,
  name = 'server',
  subject = 'IP:127.0.0.1',
): TestCertificate {
  const certPath = join(folder, `${name}.crt`)
  const keyPath = join(folder, `${name}.key`)
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const names = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=${subject}`, '-days', '2']
  const files = ['-out', certPath, '-keyout', keyPath]
  execFileSync('openssl', ['req', ...kind, ...names, ...files], { stdio: 'pipe' })
  return { certPath, keyPath, authority: readFileSync(certPath, 'utf8') }
}

interface SignedCertificate {
  readonly cert: string
  readonly key: string
}

/** An authority that signs certificates of clients and servers. */
export interface TestAuthority {
  readonly certPath: string
  /** Makes a certificate of this common name, with its key: PEM. */
  sign(commonName: string, days?: number): SignedCertificate
  /** Makes one that is good for these alternative names, such as `DNS:localhost`. */
  signServer(alternativeNames: string): SignedCertificate
}

export function makeAuthority(folder: string, name: string): TestAuthority {
  const [certPath, caKeyPath] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)]
  const openssl = (...words: readonly string[]) =>
    execFileSync('openssl', words, { stdio: 'pipe', cwd: folder })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout']
  openssl('req', '-x509', ...newKey, caKeyPath, '-subj', `/CN=${name}`, '-out', certPath)
  let signed = 0
  const sign = (commonName: string, days: number, extensions: readonly string[]) => {
    const file = `${name}-signed-${++signed}`
    const subject = ['-subj', `/CN=${commonName}`, ...extensions]
    openssl('req', ...newKey, `${file}.key`, ...subject, '-out', `${file}.csr`)
    const from = ['-CA', certPath, '-CAkey', caKeyPath, '-CAcreateserial', '-days', String(days)]
    const copied = ['-copy_extensions', 'copy']
    openssl('x509', '-req', '-in', `${file}.csr`, ...from, ...copied, '-out', `${file}.crt`)
    const read = (suffix: string) => readFileSync(join(folder, `${file}.${suffix}`), 'utf8')
    return { cert: read('crt'), key: read('key') }
  }
  return {
    certPath,
    sign: (commonName, days = 2) => sign(commonName, days, []),
    signServer: (names) => sign('server', 2, ['-addext', `subjectAltName=${names}`]),
  }
}
