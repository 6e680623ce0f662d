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
