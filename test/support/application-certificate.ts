import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a server of OPC UA knows an application by: PEM, made as the page for users says. */
export function makeApplicationCertificate(
  folder: string,
  names = 'URI:urn:streamvault:client,DNS:vault.example',
): { readonly certificate: string; readonly privateKey: string } {
  const file = join(folder, randomUUID())
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-sha256', '-days', '30']
  const files = ['-subj', '/CN=Streamvault', '-keyout', `${file}.key`, '-out', `${file}.crt`]
  const uses = 'digitalSignature,nonRepudiation,keyEncipherment,dataEncipherment'
  const extensions = [`subjectAltName=${names}`, `keyUsage=${uses}`, 'extendedKeyUsage=clientAuth']
  const added = extensions.flatMap((extension) => ['-addext', extension])
  execFileSync('openssl', ['req', ...kind, ...files, ...added], { stdio: 'pipe' })
  const read = (suffix: string) => readFileSync(`${file}.${suffix}`, 'utf8')
  return { certificate: read('crt'), privateKey: read('key') }
}
