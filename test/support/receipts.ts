import type { Static } from 'typebox'
import type { receiptSchema } from '../../src/evidence/receipts/receipt-api.ts'
import type { Answer, ApiClient } from './api-client.ts'

export type ReceiptBody = Static<typeof receiptSchema>

export type ReceiptReading = ReceiptBody['readings'][number]

export async function askReceipt(
  api: Pick<ApiClient, 'withToken'>,
  streamId: string,
  timestamp: string,
): Promise<Answer<ReceiptBody>> {
  const path = `/streams/${streamId}/receipts?timestamp=${encodeURIComponent(timestamp)}`
  return await api.withToken<ReceiptBody>('GET', path)
}

/** The readings of a receipt. @throws Error when there is none */
export async function receiptOf(
  api: Pick<ApiClient, 'withToken'>,
  streamId: string,
  timestamp: string,
): Promise<readonly ReceiptReading[]> {
  const { status, body } = await askReceipt(api, streamId, timestamp)
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.readings
}

/** What is missing of a reading, with its reason. */
export function missingOf({ missing }: ReceiptReading): readonly string[] {
  return missing.map(({ what, reason }) => `${what} ${reason}`)
}
