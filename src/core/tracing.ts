/** What others need to go on with a trace: headers of W3C Trace Context. */
export interface TraceHeaders {
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
}

/** Facts about a span, by the names of OpenTelemetry's semantic conventions. Never a secret. */
export type SpanAttributes = Readonly<Record<string, string | number | undefined>>

/** A piece of work that begins now. */
export interface SpanStart {
  /** One of few different values: no ids. */
  readonly name: string
  /** Whether another has asked for the work, or it asks another. */
  readonly kind: 'server' | 'client'
  readonly attributes: SpanAttributes
  /** Headers of who has asked for it: the trace is continued. */
  readonly parent?: TraceHeaders
}

/** How a piece of work has ended. */
export interface SpanEnd {
  readonly attributes?: SpanAttributes
  /** What kind of failure it was; undefined: none. */
  readonly failure?: string | undefined
}

/** A piece of work that is under way. One that is never ended is not sent. */
export interface Span {
  /** For what is asked of others within it. */
  readonly headers: { readonly traceparent: string; readonly tracestate?: string }
  end(end: SpanEnd): void
}

/** Spans since the start, but for those that wait. */
export interface TracingFigures {
  readonly waiting: number
  readonly sent: number
  /** There were too many that waited. */
  readonly dropped: number
  /** The collector has not taken them. */
  readonly failed: number
}

/** Sends spans to a collector. Nothing waits for it, and its failures are nobody else's. */
export interface Tracing {
  start(span: SpanStart): Span
  figures(): TracingFigures
  /** Sends what waits, as far as that is possible in a moment. Never rejects. */
  stop(): Promise<void>
}
