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

/** An authority that signs certificates of clients. */
export interface TestAuthority {
  readonly certPath: string
  /** Makes a certificate of this common name, with its key: PEM. */
  sign(commonName: string, days?: number): { readonly cert: string; readonly key: string }
}

export function makeAuthority(folder: string, name: string): TestAuthority {
  const [certPath, caKeyPath] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)]
  const openssl = (...words: readonly string[]) =>
    execFileSync('openssl', words, { stdio: 'pipe', cwd: folder })
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout']
  openssl('req', '-x509', ...newKey, caKeyPath, '-subj', `/CN=${name}`, '-out', certPath)
  let signed = 0
  return {
    certPath,
    sign(commonName, days = 2) {
      const file = `${name}-client-${++signed}`
      openssl('req', ...newKey, `${file}.key`, '-subj', `/CN=${commonName}`, '-out', `${file}.csr`)
      const from = ['-CA', certPath, '-CAkey', caKeyPath, '-CAcreateserial', '-days', String(days)]
      openssl('x509', '-req', '-in', `${file}.csr`, ...from, '-out', `${file}.crt`)
      const read = (suffix: string) => readFileSync(join(folder, `${file}.${suffix}`), 'utf8')
      return { cert: read('crt'), key: read('key') }
    },
  }
}
