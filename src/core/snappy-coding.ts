/** Whether a Content-Encoding names the block format of Snappy, in which remote write of Prometheus comes. */
export function isSnappy(header: string | undefined): boolean {
  return header?.trim().toLowerCase() === 'snappy'
}
