/** Bodies of requests of real clients, as they were sent. */

function bytes(...lines: readonly string[]): Uint8Array {
  return Buffer.from(lines.join(''), 'base64')
}

/**
 * Prometheus 2.42 (remote write 1.0), after a scrape of `room_temperature_celsius` of two rooms, one of which has no value,
 * of `big`, which is +Inf, and without `flaky`, which the scrape before had.
 */
export const prometheusRequest = bytes(
  'gAfwiwqHAQokCghfX25hbWVfXxIYcm9vbV90ZW1wZXJhdHVyZV9jZWxzaXVzChsKCGluc3RhbmNlEg8xMjcuMC4wLj',
  'E6MzYwMzUKDAoDam9iEgVyb29tcwoRCgRub3RlEglhICJiIiBcIGMKDwoEcm9vbRIHa2l0Y2hlbhIQCfcPv1pz1zRA',
  'ENfpq/ihNApz/okARokABA4KCXYsBkvDvGNoZRIQCQEAAQEU+H8Q1+mrAXUITgoPHf4MA2JpZ6rpAAgSEAkBTggAAP',
  'AVUAhQChEdUBQFZmxha3m2UgAAAgVTGVIITQoOHVIIAnVwtk8ABU4IAPA/EfEIYgojHU9cF3NjcmFwZV9kdXJhdGlv',
  'bl9zZWNvbmRztmQAGL9g5iRcFFIVZAhhCiIdZAAWDWQcc2FtcGxlc18JDwBktmMACccACFUtCHAKMR1jACUJVBVjUH',
  'Bvc3RfbWV0cmljX3JlbGFiZWxpbtLaARlyCFUKHx1yABMRciBlcmllc19hZGS20gAcBxDX6av4oTQ=',
)

/** Prometheus 2.42: metadata of a metric, and nothing else. */
export const metadataRequest = bytes('K6gaKQgCEhhyb29tX3RlbXBlcmF0dXJlX2NlbHNpdXMiC1RlbXBlcmF0dXJl')

/** github.com/prometheus/client_golang/exp/api/remote of October 2026 (remote write 2.0): two samples and a native histogram. */
export const goClientRequest = bytes(
  'vQHwvCIAIghfX25hbWVfXyIPcmVxdWVzdF9zZWNvbmRzIgRyb29tIgZLw7xjaGUiGHJvb21fdGVtcGVyYXR1cmVfY2',
  'Vsc2l1cyIHa2l0Y2hlbioqCgQBBQMGEhAJAAAAAACANUAQsPL6m8EzEhAJAAAAAAAA0L8QmPr6m8EzKkEKBAECAwQa',
  'ORlmZmZmZmYyQCACKfyp8dJNYlA/QgIQAkoCBAJaBAgBEAJaBAgCEAJiBAICAQB4sPL6m8EzCAwwAg==',
)
