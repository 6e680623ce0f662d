import { type Json, type Problems, part, text } from '../definition-problems.ts'
import { certificates } from './broker.ts'
import { authentication, headers, timeout } from './http-rules.ts'
import { address, type SourceRules } from './source-rules.ts'

/** Keys of a server that sends its events as they happen: Server-Sent Events. */
export const sseSource: SourceRules = {
  rules: {
    endpoint: address('https', 'http'),
    headers,
    authentication,
    tls: part({ ca: certificates, servername: text }),
    timeout,
  },
  required: ['endpoint'],
  secretPlaces: ['endpoint', 'headers'],
  checkAll: checkSseSource,
}

function checkSseSource({ endpoint, tls, format }: Json, problems: Problems): void {
  if (format === 'sparkplug') problems.add('format', 'sparkplug comes from brokers only')
  if (tls !== undefined && typeof endpoint === 'string' && !/^https:/i.test(endpoint)) {
    problems.add('tls', 'needs an endpoint of https')
  }
}
