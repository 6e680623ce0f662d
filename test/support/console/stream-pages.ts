import type { Page } from 'playwright-core'
import type { ApiClient } from '../api-client.ts'

/** Sends readings to a stream, and is sure that they were taken. */
export async function send(
  api: ApiClient,
  streamId: string,
  readings: readonly object[],
): Promise<void> {
  for (let from = 0; from < readings.length; from += 1000) {
    const portion = readings.slice(from, from + 1000)
    const answer = await api.withToken<object>('POST', `/streams/${streamId}/data`, portion)
    if (answer.status >= 300) throw new Error(`${answer.status} ${JSON.stringify(answer.body)}`)
  }
}

/** The values of a column of the newest readings, as numbers, in ascending order. */
export async function newestValues(page: Page, field: string): Promise<readonly number[]> {
  const cells = page.locator(`.stream-newest tbody td[data-label="${field}"]`)
  return (await cells.allTextContents()).map(Number).toSorted((one, other) => one - other)
}

/** 0, 1, 2 and so on. */
export function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => at)
}

/**
 * Whether something is drawn in a column of a chart, between 0 at its left end and 1 at its right one. A line
 * has much colour, what else is there is gray.
 */
export async function isDrawnAt(page: Page, chart: number, share: number): Promise<boolean> {
  const canvas = page.locator('.chart canvas').nth(chart)
  return await canvas.evaluate((element, at) => {
    const { clientWidth: width } = element
    const over = element.parentElement?.querySelector<HTMLElement>('.u-over')
    if (!(element instanceof HTMLCanvasElement) || !over) throw new Error('there is no chart')
    const scale = element.width / width
    const left = Math.round((over.offsetLeft + at * over.offsetWidth) * scale)
    const pixels = element.getContext('2d')?.getImageData(left, 0, 1, element.height).data ?? []
    for (let place = 0; place < pixels.length; place += 4) {
      const [red = 0, green = 0, blue = 0, alpha = 0] = pixels.slice(place, place + 4)
      if (alpha > 60 && Math.max(red, green, blue) - Math.min(red, green, blue) > 90) return true
    }
    return false
  }, share)
}
