-- One prompt may be about several troubles; each of them counts it.

CREATE INDEX actions_by_findings ON actions USING gin ((intent->'findings')) WHERE intent ? 'findings';
