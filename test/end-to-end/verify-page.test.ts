import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Proof } from '../../src/ledgers/proofs/proof.ts'
import { ledgerKeys } from '../../src/ledgers/sandbox/keys.ts'
import { pageBlocks } from '../support/page-blocks.ts'
import { isPageSkipped } from '../support/page-run.ts'
import { sandboxProof } from '../support/sandbox-proof.ts'
import { ShellSession } from '../support/shell-session.ts'
import { TemporaryFolder } from '../support/temporary-folder.ts'

const page = 'docs/verify.md'
const report = Buffer.from('the report')

describe.skipIf(isPageSkipped(page))(`the commands of ${page}`, () => {
  const folder = new TemporaryFolder()
  let proof: Proof
  let shell: ShellSession

  beforeAll(async () => {
    const files = [{ name: '', bytes: report }]
    const made = await sandboxProof(folder.file('ledger'), files, { others: 6, beside: 4 })
    proof = made.proof
    // It is to show that paths are followed.
    expect([proof.path, proof.block?.path]).toMatchObject([
      { index: 6, size: 7 },
      { index: 4, size: 5 },
    ])
    const keys = JSON.stringify(await ledgerKeys(folder.file('ledger')))
    writeFileSync(folder.file('ledger-keys.json'), keys)
    mkdirSync(folder.file('bin'))
    const command = `#!/bin/sh\nexec node ${resolve('bin/streamvault.js')} "$@"\n`
    writeFileSync(folder.file('bin/streamvault'), command)
    chmodSync(folder.file('bin/streamvault'), 0o755)
    shell = readers()
  })

  afterAll(async () => {
    await shell.end()
    folder[Symbol.dispose]()
  })

  /** A shell of somebody who has the report and its proof. */
  function readers(bytes: Uint8Array = report, text = JSON.stringify(proof)): ShellSession {
    writeFileSync(folder.file('report.txt'), bytes)
    writeFileSync(folder.file('proof.json'), text)
    const path = [folder.file('bin'), dirname(process.execPath), process.env['PATH']]
    return new ShellSession(folder.path, { PATH: path.join(delimiter) })
  }

  test.each(pageBlocks(page).map((block) => [block.line, block] as const))(
    'do at line %i what it says',
    async (_, { text, output }) => {
      const printed = await shell.run(text)
      if (output === undefined) expect(printed).toMatch(/^proven: the bytes of /)
      else expect(printed).toBe(output)
    },
  )

  test.each<[string, number, Uint8Array, (text: string) => string]>([
    ['the file', 0, Buffer.from('another report'), (text) => text],
    ['the path', 1, report, (text) => text.replace(/("path":\{"index":)6/, '$15')],
    ['the transaction', 1, report, (text) => text.replace(/(sequence\\":)\d/, '$19')],
    ['the time', 2, report, (text) => text.replace(/("time":"20)\d/, '$19')],
    ['the signature', 3, report, (text) => text.replace(/("signature":")..../, '$1AAAA')],
  ])('find that %s is another one', async (what, at, bytes, change) => {
    const text = change(JSON.stringify(proof))
    expect(text === JSON.stringify(proof)).toBe(what === 'the file')
    const other = readers(bytes, text)
    const blocks = pageBlocks(page).slice(1, 5)
    for (const [index, { text: commands, output }] of blocks.entries()) {
      // A command that fails ends the shell.
      const printed = await other.run(commands).catch(() => undefined)
      expect(printed === output).toBe(index < at)
      if (index === at) break
    }
    await other.end()
  })
})
