import { readFileSync, writeFileSync } from 'node:fs'
import { verifyChain } from '../../src/ledgers/sandbox/chain-reader.ts'

/**
 * Changes single bits of the chain in a folder, and has it verified with each.
 *
 * @param bits where they are, counted from the first of the file
 * @returns those that were not found in the block that has them
 */
export async function unfoundBits(folder: string, bits: Iterable<number>): Promise<number[]> {
  const path = `${folder}/chain.jsonl`
  const whole = readFileSync(path)
  const ends = [...whole.keys()].filter((at) => whole[at] === 10)
  const unfound: number[] = []
  for (const bit of bits) {
    const at = bit >> 3
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ (1 << (bit & 7))
    writeFileSync(path, changed)
    const { broken } = await verifyChain(folder)
    if (broken?.height !== ends.findIndex((end) => at <= end) + 1) unfound.push(bit)
  }
  writeFileSync(path, whole)
  return unfound
}
