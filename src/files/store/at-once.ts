import { allOf } from '../../core/all-steps.ts'

/**
 * Does something with each item, a few at a time. Once one has failed nothing more is begun.
 *
 * @throws the first failure, when nothing is under way any more
 */
export async function someAtOnce<Item>(
  atOnce: number,
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values()
  let isFailed = false
  const workOff = async () => {
    for (const item of left) {
      if (isFailed) return
      try {
        await work(item)
      } catch (error) {
        isFailed = true
        throw error
      }
    }
  }
  await allOf(Array.from({ length: Math.min(atOnce, items.length) }, workOff))
}
