// Economic event codes: France. Its rates are the European Central Bank's: see EU.

/** Code to what it means (spec 2.9). */
export const frEventCodes: Readonly<Record<string, string>> = {
  GDP_GROWTH_RATE_QOQ: 'Real gross domestic product: growth over the quarter before.',
  GDP_GROWTH_RATE_YOY: 'Real gross domestic product: growth over the same quarter of the year before.',
  INFLATION_RATE_HEADLINE_YOY: 'Consumer prices: change over a year.',
  INFLATION_RATE_HEADLINE_MOM: 'Consumer prices: change over the month before.',
  INFLATION_RATE_FLASH_YOY: 'Consumer prices, first estimate: change over a year.',
  INFLATION_RATE_HARMONISED_YOY:
    'Consumer prices as the European Union counts them (HICP): change over a year.',
  INFLATION_PPI_HEADLINE_MOM: 'Producer prices of industry: change over the month before.',
  INFLATION_PPI_HEADLINE_YOY: 'Producer prices of industry: change over a year.',
  EMPLOYMENT_UNEMPLOYMENT_RATE: 'Share of the labour force without work in the quarter (ILO definition).',
  EMPLOYMENT_JOBSEEKERS_TOTAL: 'People without any work who are registered as looking for it.',
  EMPLOYMENT_PRIVATE_PAYROLLS_QOQ: 'Jobs at private employers: change over the quarter before.',
  CONSUMPTION_HOUSEHOLD_SPENDING_MOM: 'What households spend on goods: change over the month before.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_YOY: 'Volume of retail trade: change over a year.',
  CONSUMPTION_CONSUMER_CONFIDENCE: "INSEE's survey of households; 100 is the long-term average.",
  BUSINESS_CLIMATE_INSEE: "INSEE's survey of companies of all kinds; 100 is the long-term average.",
  BUSINESS_CONFIDENCE_MANUFACTURING_INSEE: "INSEE's survey of manufacturers; 100 is the long-term average.",
  BUSINESS_PMI_MANUFACTURING_HCOB:
    "HCOB's survey of purchasing managers in manufacturing; above 50 they report growth.",
  BUSINESS_PMI_SERVICES_HCOB:
    "HCOB's survey of purchasing managers in services; above 50 they report growth.",
  BUSINESS_PMI_COMPOSITE_HCOB:
    "HCOB's survey of purchasing managers in manufacturing and services together; above 50 they report growth.",
  BUSINESS_INDUSTRIAL_PRODUCTION_MOM: 'Output of industry: change over the month before.',
  BUSINESS_INDUSTRIAL_PRODUCTION_YOY: 'Output of industry: change over a year.',
  HOUSING_STARTS_ABSOLUTE: 'Homes on which building began in the month.',
  HOUSING_BUILDING_PERMITS_ABSOLUTE: 'Homes whose building was permitted in the month.',
  HOUSING_PRICE_INDEX_YOY: 'Prices of existing homes: change over a year.',
  TRADE_BALANCE: 'Exports of goods less imports in the month.',
  TRADE_EXPORTS: 'Value of the goods exported in the month.',
  TRADE_IMPORTS: 'Value of the goods imported in the month.',
  TRADE_CURRENT_ACCOUNT: 'Trade, income and transfers with the rest of the world in the month.',
  BONDS_AUCTION_BTF: 'Auction of treasury bills (BTF): the average accepted rate.',
  BONDS_AUCTION_OAT_10Y: 'Auction of 10-year government bonds (OAT): the average accepted yield.',
  BONDS_AUCTION_OAT_30Y: 'Auction of 30-year government bonds (OAT): the average accepted yield.',
  BONDS_GOVERNMENT_BUDGET_BALANCE: 'What the state took in less what it spent since the year began.',
  POLITICAL_EVENT_PRESIDENTIAL_ELECTION: 'Election of the President.',
  POLITICAL_EVENT_LEGISLATIVE_ELECTION: 'Election of the National Assembly.',
  POLITICAL_EVENT_CONFIDENCE_VOTE: 'Vote of the National Assembly on confidence in the government.',
  POLITICAL_EVENT_BUDGET: "Presentation of, or vote on, the state's budget.",
  BDF_POLICY_BUSINESS_SURVEY:
    "The Banque de France's monthly survey of companies, with its estimate of growth.",
  BDF_SPEECH_GOVERNOR:
    "Speech of the Governor of the Banque de France, a member of the European Central Bank's Governing Council.",
};
