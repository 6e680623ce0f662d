import { askService } from '../served-service.ts'
import type { Json } from './type-of-schema.ts'

/** The OpenAPI document of the service as it is here. */
export async function servedDocument(): Promise<Json> {
  return await askService(
    async (http) => (await (await fetch(new URL('/openapi.json', http))).json()) as Json,
  )
}
