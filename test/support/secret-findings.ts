import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Everything that must not be found, by what it is. */
export type Secrets = Map<string, Buffer>

/** The spellings that a secret could be written down in. */
export function spellings(secret: Buffer): readonly Buffer[] {
  const hex = secret.toString('hex')
  const base64 = secret.toString('base64').replace(/=+$/, '')
  const texts = [hex, hex.toUpperCase(), base64, secret.toString('base64url')]
  return [secret, ...texts.map((text) => Buffer.from(text))]
}

export function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
}

/** Where which secret was found: `state.db: the secret of a key`. */
export function findings(secrets: Secrets, places: ReadonlyMap<string, Buffer>): string[] {
  return [...places].flatMap(([place, content]) =>
    [...secrets]
      .filter(([, secret]) => spellings(secret).some((spelling) => content.includes(spelling)))
      .map(([what]) => `${place}: ${what}`),
  )
}
