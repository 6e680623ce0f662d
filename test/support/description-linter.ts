import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { TemporaryFolder } from './temporary-folder.ts'

/** What a linter of its own kind says of an OpenAPI or AsyncAPI document; nothing when it is content. */
export async function complaintsAbout(document: string): Promise<string> {
  using folder = new TemporaryFolder()
  const path = join(folder.path, 'description.json')
  writeFileSync(path, document)
  // It would tell its makers that it was used, and ask for newer versions.
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
  const cli = 'node_modules/@redocly/cli/bin/cli.js'
  const options = ['lint', path, '--config=redocly.yaml', '--format=stylish']
  try {
    await promisify(execFile)(process.execPath, [cli, ...options], { env })
    return ''
  } catch (error) {
    return (error as { readonly stdout: string }).stdout
  }
}
