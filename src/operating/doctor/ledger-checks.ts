import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { MasterKey } from '../../access/auth/master-key.ts'
import type { Config } from '../../config/config.ts'
import { filesIn } from '../../config/data-folder.ts'
import { messageOf } from '../../core/errors.ts'
import { formatUs } from '../../core/time.ts'
import { verifyChain } from '../../ledgers/sandbox/chain-reader.ts'
import { chainFile, keysFile } from '../../ledgers/sandbox/files.ts'
import { ensureSandboxKeys } from '../../ledgers/sandbox/keys.ts'
import { type Check, fail, ok, type Surroundings } from './check.ts'

const name = 'ledger'

const brokenAdvice =
  'keep a copy of the folder ledger, and put back its chain.jsonl from a backup; what was anchored since is anchored again'
const keysAdvice =
  'put back keys.json of the ledger from a backup, or the master key that it was made with'

/** The ledger of our own: every block is what it was, and its keys belong to this folder. */
export async function checkLedger({ config }: Surroundings): Promise<Check> {
  const { ledger: folder } = filesIn(config.dataDir)
  const hasKeys = existsSync(join(folder, keysFile))
  if (!hasKeys && !existsSync(join(folder, chainFile))) return ok(name, 'it does not exist yet')
  const problem = hasKeys ? await problemOfKeys(config, folder) : `${keysFile} is missing`
  if (problem !== undefined) return fail(name, problem, keysAdvice)
  try {
    const { broken, blocks, transactions, timeUs } = await verifyChain(folder)
    if (broken) return fail(name, broken.reason, brokenAdvice)
    const last = timeUs === undefined ? '' : `, the last one of ${formatUs(timeUs)}`
    return ok(name, `${blocks} blocks with ${transactions} transactions are complete${last}`)
  } catch (error) {
    // Before the first block there is no chain: its keys are made at the start.
    if (!existsSync(join(folder, chainFile))) return ok(name, 'its keys are there, and no block')
    return fail(name, `it cannot be read: ${messageOf(error)}`, brokenAdvice)
  }
}

/** What is wrong with keys that are there, if anything. A master key that is missing has a check of its own. */
async function problemOfKeys(config: Config, folder: string): Promise<string | undefined> {
  const { masterKey: path } = filesIn(config.dataDir)
  if (config.masterKey === undefined && !existsSync(path)) return undefined
  try {
    const text = config.masterKey ?? readFileSync(path, 'utf8').trim()
    await ensureSandboxKeys(folder, new MasterKey(Buffer.from(text, 'base64')))
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
