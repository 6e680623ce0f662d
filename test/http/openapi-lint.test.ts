import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runningService } from '../support/running-service.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const service = runningService()

/** What a linter of its own kind says of a document; nothing when it is content. */
async function complaintsAbout(document: string): Promise<string> {
  using folder = new TemporaryFolder()
  const path = join(folder.path, 'openapi.json')
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

test('the OpenAPI document passes the linter', async () => {
  const document = await (await fetch(`${service.process.http}/openapi.json`)).text()

  expect(await complaintsAbout(document)).toBe('')
})

test('the linter notices what is wrong', async () => {
  const document = await (await fetch(`${service.process.http}/openapi.json`)).text()
  const broken = document.replace('"summary":"Read a vault."', '"summry":"Read a vault."')

  expect(await complaintsAbout(broken)).toContain('summry')
})
