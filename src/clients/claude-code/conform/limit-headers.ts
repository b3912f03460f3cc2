/** As the service says that a subscriber's allowance is used up. */
export function limitHeaders(resets: number, claim: 'five_hour' | 'seven_day' = 'five_hour'): Record<string, string> {
  const prefix = 'anthropic-ratelimit-unified';
  const window = { five_hour: '5h', seven_day: '7d' }[claim];
  return {
    [`${prefix}-status`]: 'rejected',
    [`${prefix}-reset`]: String(resets),
    [`${prefix}-representative-claim`]: claim,
    [`${prefix}-${window}-utilization`]: '1',
    [`${prefix}-${window}-reset`]: String(resets),
    [`${prefix}-${window}-status`]: 'rejected',
  };
}
